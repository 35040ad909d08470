#!/usr/bin/env python3
"""Says what a test run has left behind: processes and files.  Exit status 1 when there is something.

    tools/check_left_behind.py MARK FOLDER BUILD SINCE

A process is the run's when its environment holds KNELL_TEST_RUN=MARK or a path in FOLDER, when it works in
FOLDER or names it, or when its program lies under BUILD; and when it began after SINCE, a count of clock
ticks since boot as in /proc/PID/stat, so that somebody's own daemon is not taken for one.  Ports go with
their processes.
"""

import os
import pathlib
import sys
import time

wait_max_s = 5  # for what is just exiting


def read(path):
    try:
        return pathlib.Path(path).read_bytes()
    except OSError:
        return b""


def link(path):
    try:
        return os.readlink(path)
    except OSError:
        return ""


def began(pid):
    fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    is_dead = not fields or fields[0] in (b"Z", b"X")
    return None if is_dead else int(fields[19])


def ancestors():
    found, pid = set(), os.getpid()
    while pid > 0:
        found.add(pid)
        fields = read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
        pid = int(fields[1]) if fields else 0
    return found


def left_processes(mark, folder, build, since):
    own = ancestors()
    for pid in sorted(int(name) for name in os.listdir("/proc") if name.isdigit()):
        start = began(pid)
        if pid in own or start is None or start < since:
            continue
        words = read(f"/proc/{pid}/cmdline").replace(b"\0", b" ").decode(errors="replace").strip()
        environment = read(f"/proc/{pid}/environ")
        marked = f"KNELL_TEST_RUN={mark}".encode() in environment.split(b"\0")
        # TMPDIR alone is everybody's: what was started for a test names a folder inside.
        named = f"={folder}/".encode() in environment
        inside = named or folder in words or link(f"/proc/{pid}/cwd").startswith(folder)
        built = link(f"/proc/{pid}/exe").startswith(build + "/")
        if marked or inside or built:
            yield f"process {pid}: {words[:160]}"


def left_files(folder):
    for path in sorted(pathlib.Path(folder).rglob("*"))[:50]:
        yield f"file {path}"


def main():
    mark, folder, build, since = sys.argv[1:]
    give_up = time.monotonic() + wait_max_s
    while processes := list(left_processes(mark, folder, build, int(since))):
        if time.monotonic() > give_up:
            break
        time.sleep(0.05)
    left = processes + list(left_files(folder))
    for line in left:
        print(line)
    sys.exit(1 if left else 0)


main()
