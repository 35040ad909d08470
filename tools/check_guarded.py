#!/usr/bin/env python3
"""Holds the files that signal, end, delete or acknowledge to full line coverage.

    tools/check_guarded.py                   check that the list in docs/testing.md is whole
    tools/check_guarded.py UNTESTED          name the untested lines of its files; UNTESTED has path:line rows
    tools/check_guarded.py --self-test       check that each rule finds what it is for

The list is the table under "# Coverage" in docs/testing.md: patterns in its first column, as `src/watch/*`.
Untested lines that stand together are excused by a comment on one of them, or right above them, that says
"untestable: REASON".
"""

import fnmatch
import re
import sys
import tempfile
from pathlib import Path

SECTION = re.compile(r"^# Coverage$(.*?)(?=^# |\Z)", re.M | re.S)
PATTERN = re.compile(r"`(src/[^`]+)`")
EXCUSE = re.compile(r"//.*\buntestable:\s*\S")
# Whoever does one of these belongs on the list.
DANGEROUS = re.compile(
    r"::kill\(|\bpidfd_send_signal\(|SYS_pidfd_send_signal|\bunlink(?:at)?\(\w*[^)]*c_str|\bftruncate\(|"
    r"\brename\(|filesystem::remove|\bDELETE FROM\b|\bEnded\{")


def guarded_patterns(top):
    section = SECTION.search((top / "docs/testing.md").read_text())
    rows = re.findall(r"^\|([^|]*)\|", section[1], re.M) if section else []
    return [pattern for row in rows for pattern in PATTERN.findall(row)]


def is_guarded(path, patterns):
    return any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns)


def sources(top):
    for file in sorted((top / "src").rglob("*")):
        path = file.relative_to(top).as_posix()
        if file.suffix in (".cpp", ".hpp") and not path.endswith("_test.cpp") and "/testing/" not in path:
            yield path, file.read_text()


def check_list(top, patterns):
    """Yields what is wrong with the list itself."""
    known = list(sources(top))
    for pattern in patterns:
        if not fnmatch.filter((path for path, _ in known), pattern):
            yield f"docs/testing.md: {pattern} names no file"
    for path, text in known:
        found = DANGEROUS.search(text)
        if found and not is_guarded(path, patterns):
            line = text.count("\n", 0, found.start()) + 1
            yield f"{path}:{line}: {found[0]} in a file that the table in docs/testing.md does not name"


def is_excused(text, run):
    """`text` has the lines of a file from 1 on."""
    above = run[0] - 1
    while above > 0 and text[above].lstrip().startswith("//"):
        above -= 1
    return any(EXCUSE.search(line) for line in text[above + 1:run[-1] + 1])


def runs_of(lines):
    """[3, 4, 5, 9] -> [3, 4, 5], [9]"""
    runs = []
    for line in sorted(lines):
        if runs and runs[-1][-1] == line - 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    return runs


def untested(top, patterns, rows):
    """(path, line, text) of each untested line that is not excused, and how many are."""
    by_file = {}
    for row in rows:
        path, _, line = row.rpartition(":")
        if is_guarded(path, patterns):
            by_file.setdefault(path, set()).add(int(line))
    found, excused = [], 0
    for path, lines in sorted(by_file.items()):
        text = ["", *(top / path).read_text().split("\n")]
        for run in runs_of(lines):
            if is_excused(text, run):
                excused += len(run)
            else:
                found += [(path, line, text[line].strip()) for line in run]
    return found, excused


# ---- its own test ---------------------------------------------------------------------------

SAMPLE = {
    "docs/testing.md": "# Coverage\n\n| files | why |\n|---|---|\n| `src/a.cpp`, `src/b/*` | kill |\n"
                       "| `src/gone.cpp` | |\n# Next\n| `src/other.cpp` | |\n",
    "src/a.cpp": "one\n// untestable: the kernel\n// never does\nfour\nfive\nsix\nseven // untestable: so\n"
                 "eight\nnine // untestable:\n",
    "src/b/c.hpp": "one\n",
    "src/other.cpp": "x\n::kill(pid, SIGKILL);\n",
    "src/other_test.cpp": "::kill(pid, SIGKILL);\n",
}


def self_test():
    with tempfile.TemporaryDirectory() as folder:
        top = Path(folder)
        for path, text in SAMPLE.items():
            (top / path).parent.mkdir(parents=True, exist_ok=True)
            (top / path).write_text(text)
        patterns = guarded_patterns(top)
        assert patterns == ["src/a.cpp", "src/b/*", "src/gone.cpp"], patterns
        wrong = list(check_list(top, patterns))
        assert len(wrong) == 2 and "gone.cpp" in wrong[0] and "src/other.cpp:2" in wrong[1], wrong
        rows = [f"src/a.cpp:{line}" for line in (1, 4, 5, 7, 9)] + ["src/b/c.hpp:1", "src/other.cpp:1"]
        found, excused = untested(top, patterns, rows)
        assert [(path, line) for path, line, _ in found] == [
            ("src/a.cpp", 1), ("src/a.cpp", 9), ("src/b/c.hpp", 1)], found
        assert excused == 3, excused
    print("self-test: ok")


def main(arguments):
    if arguments == ["--self-test"]:
        self_test()
        return 0
    top = Path(__file__).resolve().parent.parent
    patterns = guarded_patterns(top)
    wrong = list(check_list(top, patterns))
    for line in wrong:
        print(line)
    if not arguments:
        print(f"guarded files: {len(patterns)} patterns, {len(wrong)} findings")
        return 1 if wrong or not patterns else 0
    found, excused = untested(top, patterns, Path(arguments[0]).read_text().split())
    for path, line, text in found:
        print(f"{path}:{line}: {text}")
    print(f"in files that signal, end, delete or acknowledge: {len(found)} untested lines, {excused} excused")
    return 1 if wrong or found or not patterns else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
