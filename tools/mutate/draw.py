"""Which files, which lines, and in which order: all from the seed."""

import fnmatch
import os
import random
import re
import subprocess

from operators import WEIGHTS

FOLDERS = (
    "src/engine", "src/journal", "src/store", "src/deliver", "src/watch", "src/client", "src/cli/run*", "src/net",
    "src/rpc", "src/writer",
)


def is_source(path):
    return path.endswith((".cpp", ".hpp")) and not path.endswith("_test.cpp")


def files_in(top, folders):
    """Sources in these folders; a folder may also be a file or a pattern."""
    found = []
    for folder, _, names in sorted(os.walk(os.path.join(top, "src"))):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), top)
            if is_source(path) and any(is_in(path, wanted.rstrip("/")) for wanted in folders):
                found.append(path)
    return found


def is_in(path, folder):
    return path.startswith(folder + "/") or fnmatch.fnmatchcase(path, folder)


def sequence(mutations, seed):
    """Every mutation once: an operator by its weight, then any of its places."""
    chance = random.Random(seed)
    left = {operator: [] for operator in WEIGHTS}
    for mutation in mutations:
        left[mutation.operator].append(mutation)
    while any(left.values()):
        names = [name for name in WEIGHTS if left[name]]
        name = chance.choices(names, [WEIGHTS[name] for name in names])[0]
        yield left[name].pop(chance.randrange(len(left[name])))


def git(top, *words):
    return subprocess.run(["git", "-C", top, *words], check=False, capture_output=True, text=True).stdout


def base_of(top):
    """Where this branch left main; on main itself what is upstream, or else the last commit's parent."""
    head = git(top, "rev-parse", "HEAD").strip()
    for name in ("origin/main", "main"):
        base = git(top, "merge-base", name, "HEAD").strip()
        if base and (base != head or git(top, "status", "--porcelain")):
            return base
    return "HEAD~1"


def changed_lines(top, base):
    """{path: lines} that differ from the base, also where git does not know the file yet."""
    lines = lines_of_diff(git(top, "diff", "--unified=0", "--no-color", base, "--", "src"))
    for path in git(top, "ls-files", "--others", "--exclude-standard", "--", "src").splitlines():
        lines[path] = set(range(1, 1_000_000))
    return lines


def lines_of_diff(diff):
    lines = {}
    path = None
    for line in diff.splitlines():
        if line.startswith("+++ "):
            path = line[6:] if line.startswith("+++ b/") else None
        match = re.match(r"@@ -\S+ \+(\d+)(?:,(\d+))? @@", line)
        if match and path:
            first, count = int(match[1]), int(match[2] or 1)
            lines.setdefault(path, set()).update(range(first, first + count))
    return lines
