"""The tests: what there is, how long each takes, and which are nearest to a file."""

import collections
import glob
import os
import re

STAGES = ("unit", "conformance", "sim", "functional")
TARGETS = {
    "unit": ("knell_unit_tests",),
    "conformance": ("knell_conformance_tests",),
    "sim": ("knell_sim",),
    "functional": ("knell_functional_tests", "knell"),
}
BINARIES = {"knell": "build/release/knell"}
SEEDS = 3000
SEEDS_AT_ONCE = 250
BATCH_SECONDS = 3.0
LISTING_TESTS = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\((\w+)|^RC_GTEST_(?:FIXTURE_)?PROP\((\w+)", re.MULTILINE)

RESULT = re.compile(r"^\[ +(RUN|OK|SKIPPED|FAILED) +\] (\S+?)(?:,.*?)?(?: \((\d+) ms\))?$", re.MULTILINE)

Batch = collections.namedtuple("Batch", "stage tests seconds")


def binary_of(target):
    return BINARIES.get(target, f"build/release/tests/{target}")


def suite_of(test):
    """`Stores/Life.Ends/0` is of Life."""
    name = test.partition(".")[0].split("/")
    return name[0] if len(name) == 1 or name[1].isdigit() else name[1]


def files_of_suites(top):
    """{suite: test file}"""
    files = {}
    for pattern in ("src/**/*_test.cpp", "tests/**/*_test.cpp"):
        for path in sorted(glob.glob(pattern, root_dir=top, recursive=True)):
            with open(os.path.join(top, path), encoding="utf-8") as file:
                text = file.read()
            for match in LISTING_TESTS.finditer(text):
                files[match[1] or match[2]] = (path, text)
    return files


def distance(path, test_file, test_text):
    """From a source to a test: 1 is its own, 2 its folder's, 3 includes it or is named like it."""
    stem = os.path.splitext(path)[0]
    own = os.path.splitext(test_file)[0].removesuffix("_test")
    if stem == own:
        return 1
    if os.path.dirname(stem) == os.path.dirname(own):
        return 2
    is_named_like = os.path.basename(stem).split("_")[0] == os.path.basename(own).split("_")[0]
    return 3 if is_named_like or f'"{stem.removeprefix("src/")}.hpp"' in test_text else 4


def in_batches(stage, ranked, seconds):
    """Batches of tests that take a few seconds each, the nearest first and then the quickest."""
    batches = []
    current, rank_of_current, total = [], None, 0.0
    for rank, test in sorted(ranked, key=lambda item: (item[0], seconds.get(item[1], 0), item[1])):
        if current and (rank != rank_of_current or total + seconds.get(test, 0) > BATCH_SECONDS):
            batches.append(Batch(stage, tuple(current), total))
            current, total = [], 0.0
        current.append(test)
        total += seconds.get(test, 0)
        rank_of_current = rank
    if current:
        batches.append(Batch(stage, tuple(current), total))
    return batches


class Suites:
    """`seconds`: {stage: {test: seconds}} of the tests that pass without a mutation."""

    def __init__(self, top, seconds):
        self.seconds = seconds
        self._files = files_of_suites(top)

    def batches(self, stage, path, killers):
        """`killers`: tests that caught other mutants of the file; they come first."""
        if stage == "sim":
            return simulator_batches(self.seconds.get(stage, {}), killers)
        ranked = []
        for test in self.seconds.get(stage, {}):
            test_file, text = self._files.get(suite_of(test), ("", ""))
            ranked.append((0 if test in killers else distance(path, test_file, text), test))
        return in_batches(stage, ranked, self.seconds.get(stage, {}))


def nearest(batches, seconds):
    """The first of them that take so long together: one at least."""
    near, total = [], 0.0
    for batch in batches:
        if near and total + batch.seconds > seconds:
            break
        near.append(batch)
        total += batch.seconds
    return near


def simulator_batches(seconds, killers):
    seeds = [killer for killer in killers if killer.isdigit()]
    batches = [Batch("sim", (f"{seed}..{seed}",), 1.0) for seed in seeds]
    return batches + [Batch("sim", (test,), taken) for test, taken in sorted(
        seconds.items(), key=lambda item: int(item[0].partition("..")[0]))]


def seed_ranges():
    return [f"{first}..{first + SEEDS_AT_ONCE - 1}" for first in range(1, SEEDS, SEEDS_AT_ONCE)]


# What a run says

def tests_in_listing(output):
    """Of --gtest_list_tests."""
    tests, suite = [], ""
    for line in output.splitlines():
        name = line.partition("#")[0].strip()
        if line.startswith("  ") and name:
            tests.append(suite + name)
        elif name.endswith("."):
            suite = name
    return [test for test in tests if "DISABLED_" not in test]


def read_run(output):
    """({test: seconds} of those that passed or were skipped, {failed}, the one that was running at the end)"""
    passed, failed, running = {}, set(), None
    for match in RESULT.finditer(output):
        what, test, millis = match.groups()
        if what == "RUN":
            running = test
        elif millis is not None:
            if what == "FAILED":
                failed.add(test)
            else:
                passed[test] = int(millis) / 1000
            running = None
    return passed, failed, running
