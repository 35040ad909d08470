#!/usr/bin/env python3
"""What `knell ls` looks like on a real terminal: 40, 80 and 200 columns wide, with no, one, fifty and
five thousand sessions.  Compares with tests/golden/screens/; UPDATE_GOLDEN=1 writes what is shown
now: read the difference before it is kept.

    ls_screens.py KNELL GOLDEN_FOLDER
"""

import contextlib
import difflib
import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

WIDTHS = (40, 80, 200)
SESSIONS = (0, 1, 50, 5000)
ROWS = 40
LOOKS_MAX = 1000
SKIPPED = 77

FIRST = {
    "id": "01a1e04a-0000-7000-8000-000000000000",
    "source": "cli",
    "title": "claude",
    "cwd": "/home/me/work/knell",
    "owner": {"lease_ttl_s": 604800},
}

# One in fifty is open; the others ended in three ways, each a little later than the one before it.
COPIES = """
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :more)
INSERT INTO sessions (ordinal, id, title, cwd, fold, ended_at, ended_after, ended_before, reason,
                      proof, detail, evidence, {same})
SELECT 1 + i, printf('01a1e%03x-%04x-7000-8000-000000000000', i / 4, i),
       CASE i % 3 WHEN 0 THEN 'fix the login of the dashboard (' || i || ')' ELSE 'codex' END,
       '/home/me/work/project-' || (i % 7), 0,
       iif(i % 50 = 0, NULL, started_at - 10000 + i), iif(i % 50 = 0, NULL, started_at - 10000),
       iif(i % 50 = 0, NULL, started_at),
       iif(i % 50 = 0, NULL, CASE i % 3 WHEN 0 THEN 'completed' WHEN 1 THEN 'signaled' ELSE 'exited' END),
       iif(i % 50 = 0, NULL, 'observed'),
       iif(i % 50 = 0, NULL, CASE i % 3 WHEN 1 THEN 'signal 9 (SIGKILL)' WHEN 2 THEN 'exit 3' END),
       iif(i % 50 = 0, NULL, 'seen'), {same}
FROM n, sessions WHERE ordinal = 1
"""
SAME = """source, generation, owner_kind, owner_lease_ttl_s, owner_since, on_owner_loss, started_at,
          last_activity_at, message_count, input_tokens, output_tokens"""


def run(command, env):
    return subprocess.run(command, env=env, check=True, capture_output=True, text=True).stdout


@contextlib.contextmanager
def daemon(knell, env):
    run([knell, "up", "--detach", "--http", "off"], env)
    try:
        yield
    finally:
        run([knell, "down"], env)


def fill(knell, home, env, sessions):
    with daemon(knell, env):
        if sessions > 0:
            run([knell, "rpc", "session.create", json.dumps(FIRST)], env)
    if sessions > 1:
        with contextlib.closing(sqlite3.connect(home / "knell.db")) as store, store:
            store.execute(COPIES.format(same=SAME), {"more": sessions - 1})


def screen(knell, home, env, columns):
    """All lines, from the first, once the command is done."""
    command = f"HOME=/home/me NO_COLOR=1 {knell} ls 2>&1; echo END; tmux wait-for -S done; cat"
    # A server of its own each time: the one before may not be gone yet.
    tmux = ["tmux", "-L", f"columns-{columns}", "-f", "/dev/null"]
    run(tmux + ["new-session", "-d", "-s", "s", "-x", str(columns), "-y", str(ROWS), command], env)
    try:
        run(tmux + ["wait-for", "done"], env)
        # tmux may come to what was written before that only after it.
        for _ in range(LOOKS_MAX):
            shown = run(tmux + ["capture-pane", "-p", "-S", "-", "-t", "s"], env)
            if "END\n" in shown:
                return shown[: shown.index("END\n")]
    finally:
        run(tmux + ["kill-server"], env)
    raise RuntimeError("nothing was shown in time")


def with_even_ages(text):
    """Ages differ from run to run; they keep their width."""
    return re.sub(r"(?<=\s)\d{1,2}[sm](?=\s)", lambda age: "0s".ljust(len(age[0])), text)


def main():
    knell, golden = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2])
    if shutil.which("tmux") is None:
        print("skipped: there is no tmux")
        return SKIPPED
    failed = False
    for sessions in SESSIONS:
        with tempfile.TemporaryDirectory(prefix="kls-") as folder:
            home = pathlib.Path(folder)
            env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "KNELL_HOME": folder, "TMUX_TMPDIR": folder,
                   "LANG": "C.UTF-8"}
            fill(knell, home, env, sessions)
            with daemon(knell, env):
                for columns in WIDTHS:
                    shown = with_even_ages(screen(knell, home, env, columns))
                    too_wide = [line for line in shown.splitlines() if len(line) > columns]
                    path = golden / f"ls_{columns}_{sessions}.txt"
                    if os.environ.get("UPDATE_GOLDEN"):
                        path.write_text(shown)
                    expected = path.read_text() if path.exists() else ""
                    if shown != expected or too_wide:
                        failed = True
                        sys.stdout.writelines(difflib.unified_diff(
                            expected.splitlines(True), shown.splitlines(True), str(path), "shown"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
