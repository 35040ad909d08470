#!/usr/bin/env python3
"""Mutates the sources, one place at a time, and says which mutations no test catches.

scripts/mutate runs it; docs/testing.md tells how it works.
"""

import argparse
import fcntl
import os
import pathlib
import random
import signal
import sys
import time

sys.dont_write_bytecode = True      # the source tree stays as it is

import draw
import operators
import suites
import verdicts
from report import Report, diff_of
from sandbox import Sandbox
from tree import BuildFailed, Tree
from trial import Caught, Trial, measure

TOP = pathlib.Path(__file__).resolve().parent.parent.parent
EQUIVALENTS = TOP / "tools/mutate/equivalent.txt"
SAME_CODE = "the compiler makes the same program of it"


def options():
    parser = argparse.ArgumentParser(prog="./scripts/mutate", description="Mutate the sources and run the tests.")
    parser.add_argument("--folder", action="append", metavar="F", help="only this folder, file or pattern; may be repeated")
    parser.add_argument("--n", type=int, default=30, metavar="N", help="so many mutants [%(default)s]")
    parser.add_argument("--seed", type=int, metavar="S", help="draw these again [a fresh one]")
    parser.add_argument("--operator", action="append", choices=operators.WEIGHTS, help="only this one; may be repeated")
    parser.add_argument("--changed", nargs="?", const="", metavar="BASE",
                        help="only lines that differ from BASE [where the branch left main]")
    parser.add_argument("--patience", type=float, default=20.0, metavar="S",
                        help="of each kind of test only the nearest S seconds at first; who lives through these is tried "
                             "with all of them after the others [%(default)s]")
    parser.add_argument("--json", metavar="FILE", help="write the results there, too")
    parser.add_argument("--list", action="store_true", help="print what would be tried; build nothing")
    return parser.parse_args()


def all_mutations(given):
    """In the chosen files and lines.  {path: text}, [mutation]"""
    lines = None
    if given.changed is not None:
        base = given.changed or draw.base_of(TOP)
        lines = draw.changed_lines(TOP, base)
        print(f"lines changed since {base[:12]}")
    texts, mutations = {}, []
    for path in draw.files_in(TOP, given.folder or draw.FOLDERS):
        if lines is not None and path not in lines:
            continue
        texts[path] = (TOP / path).read_text()
        for mutation in operators.mutations_of(path, texts[path]):
            in_lines = lines is None or lines[path] & set(range(mutation.line, mutation.last_line + 1))
            if in_lines and (not given.operator or mutation.operator in given.operator):
                mutations.append(mutation)
    return texts, mutations


class Tester:
    def __init__(self, tree, trial, cache):
        self.tree = tree
        self.trial = trial
        self.cache = cache
        self.suites = None
        self.build_seconds = 0.0

    def prepare(self):
        """Builds without a mutation, and learns which tests pass and how long they take."""
        started = time.monotonic()
        print("building ... ", end="", flush=True)
        self.tree.configure()
        self.tree.build([target for stage in suites.STAGES for target in suites.TARGETS[stage]])
        self.tree.remember_pristine()
        print(f"ok ({time.monotonic() - started:.0f} s)", flush=True)
        baseline = self.cache.baseline()
        if baseline is None:
            started = time.monotonic()
            print("tests without a mutation:", end="", flush=True)
            seconds, failing = measure(self.trial, lambda stage: print(f" {stage}", end="", flush=True))
            baseline = {"seconds": seconds, "failing": failing}
            self.cache.put_baseline(baseline)
            print(f" ok ({time.monotonic() - started:.0f} s)", flush=True)
        if baseline["failing"]:
            print(f"left out, because they fail without a mutation: {' '.join(baseline['failing'])}")
        self.suites = suites.Suites(TOP, baseline["seconds"])

    def judge(self, mutation, content, patience=None):
        """('caught' | 'survived' | 'put aside' | 'equivalent' | 'stillborn', by); `patience`: seconds of tests of each stage"""
        key = self.cache.key(mutation.path, content)
        known = self.cache.verdict(key)
        if known:
            return known["verdict"], told_of(known)
        self.tree.mutate(mutation.path, content)
        try:
            entry = self._try(mutation, key, patience)
        finally:
            self.tree.restore(mutation.path)
        if entry["verdict"] != "put aside":
            self.cache.put(key, path=mutation.path, **entry)
        return entry["verdict"], told_of(entry)

    def _try(self, mutation, key, patience):
        killer = self.cache.killer(key)
        order = sorted(suites.STAGES, key=lambda stage: (killer or ("",))[0] != stage)
        differs, is_whole = False, True
        for stage in order:
            started = time.monotonic()
            try:
                self.tree.build(suites.TARGETS[stage])
            except BuildFailed:
                return {"verdict": "stillborn"}
            finally:
                self.build_seconds += time.monotonic() - started
            if not self.tree.differs(stage):
                continue        # this stage does not contain the mutated code
            differs = True
            first = [killer[1]] if killer and killer[0] == stage else []
            others = self.cache.killers(mutation.path, stage)
            batches = self.suites.batches(stage, mutation.path, first + others)
            near = batches if patience is None else suites.nearest(batches, patience)
            is_whole = is_whole and len(near) == len(batches)
            try:
                self.trial.run(near)
            except Caught as caught:
                return {"verdict": "caught", "stage": stage, "test": caught.test, "how": caught.how}
        if not differs:
            return {"verdict": "equivalent", "how": SAME_CODE}
        return {"verdict": "survived" if is_whole else "put aside"}


def told_of(entry):
    if entry["verdict"] != "caught":
        return entry.get("how", "")
    if entry["stage"] == "sim":
        return f"the simulator, seed {entry['test']}: {entry['how']}"
    return f"{entry['test']}" + ("" if entry["how"] == "fails" else f", which {entry['how']}")


def run(given, tester, texts, mutations, report):
    equivalents = verdicts.read_equivalents(EQUIVALENTS.read_text())

    def judge(mutation, patience):
        old = texts[mutation.path]
        new = operators.apply(mutation, old)
        started = time.monotonic()
        why = verdicts.judged(equivalents, mutation, old)
        verdict, by = ("equivalent", why) if why else tester.judge(mutation, new, patience)
        if verdict == "stillborn":
            report.stillborn += 1
        else:
            report.add(mutation, verdict, by, time.monotonic() - started, diff_of(mutation.path, old, new))

    for mutation in draw.sequence(mutations, given.seed):
        if report.counted() == given.n:
            break
        judge(mutation, given.patience)
    else:
        print(f"there are no more: {report.counted()} mutants in all")
    for mutation in report.take_aside():
        judge(mutation, None)


def main():
    given = options()
    texts, mutations = all_mutations(given)
    given.seed = random.SystemRandom().randrange(1 << 31) if given.seed is None else given.seed
    print(f"{len(mutations)} mutations in {len(texts)} files; seed {given.seed}", flush=True)
    if given.list:
        for mutation, _ in zip(draw.sequence(mutations, given.seed), range(given.n)):
            print(f"{mutation.path}:{mutation.line} {mutation.operator}")
        return 0
    place = TOP / "build/mutate"
    (TOP / "build/logs").mkdir(parents=True, exist_ok=True)
    place.mkdir(parents=True, exist_ok=True)
    jobs = int(os.environ.get("JOBS", os.cpu_count() or 2))
    with open(place / "lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("another run mutates in build/mutate", file=sys.stderr)
            return 2
        return mutate(given, texts, mutations, place, jobs)


def interrupt(*_):
    raise KeyboardInterrupt


def mutate(given, texts, mutations, place, jobs):
    sandbox = Sandbox(place)
    if not sandbox.is_allowed():
        print("a mutant may signal any process and remove any file: it needs pid and mount namespaces of its own, "
              "which are not allowed here", file=sys.stderr)
        return 2
    log = TOP / "build/logs/mutate.log"
    log.write_text("")
    tree = Tree(TOP, place, jobs, log)
    tree.sync()
    tester = Tester(tree, Trial(sandbox, tree, jobs), verdicts.Cache(TOP / ".cache/mutate/verdicts.json", tree.digest()))
    report = Report(given.n)
    status = 0
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, interrupt)
    try:
        tester.prepare()
        started = time.monotonic()
        run(given, tester, texts, mutations, report)
    except BuildFailed as failure:
        print(f"FAILED\n{failure}; all of its output is in build/logs/mutate.log")
        return 2
    except KeyboardInterrupt:
        sandbox.stop()
        print("\ninterrupted; your sources are as they were: mutations are made in build/mutate")
        if not report.mutants:
            return 130
        status = 130
    report.print_end(time.monotonic() - started, tester.build_seconds)
    if tester.trial.flaky:
        print(f"failed once and then passed: {' '.join(sorted(tester.trial.flaky))}")
    if given.json:
        report.write_json(given.json, seed=given.seed)
    return status or (1 if report.survivors else 0)


if __name__ == "__main__":
    sys.exit(main())
