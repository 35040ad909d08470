"""Where mutants run: they may signal any pid and remove any file.

A pid namespace leaves them only their own processes, and ends these with the test.  A mount namespace gives
them a /tmp of their own and makes the rest of the disk read-only, except for the tree they were built in.
"""

import ctypes
import os
import shutil
import signal
import subprocess
import threading
import time

MEMORY_KB_MAX = 3 << 20
OUTPUT_BYTES_MAX = 1 << 20
REFUSED = 96

# The first process of a pid namespace has to reap: so the test is its child.  A shell has such a child ignore
# SIGINT, which the test must not.  When memory runs out, a mutant is the first to go.
INSIDE = f"""
tree=$1; shift
mount --bind "$tree" "$tree" && mount -t tmpfs -o size=2g tmpfs /tmp && mount -o remount,bind,ro / || exit {REFUSED}
echo 1000 >/proc/self/oom_score_adj
[ -z "$MEMORY_KB_MAX" ] || {{ ulimit -d "$MEMORY_KB_MAX"; ulimit -c 0; }}
mkdir /tmp/home && cd "$tree" || exit {REFUSED}
env --default-signal=INT,QUIT "$@" & wait $!
"""


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)      # PR_SET_PDEATHSIG


class Finished:
    def __init__(self, status, output, seconds, timed_out):
        self.status = status
        self.output = output
        self.seconds = seconds
        self.timed_out = timed_out


class Sandbox:
    """Runs commands; `stop` ends all that run now."""

    def __init__(self, tree):
        self.tree = os.path.realpath(tree)
        self.words = None
        self._running = set()
        self._lock = threading.Lock()
        self._stopped = False

    def is_allowed(self):
        """As root, or as the root of a user namespace."""
        if not shutil.which("unshare"):
            return False
        for mapping in ((), ("--user", "--map-root-user")):
            if mapping or os.geteuid() == 0:
                self.words = ["unshare", *mapping, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                              "sh", "-c", INSIDE, "sh", self.tree]
                if self.run(["true"], 20).status == 0:
                    return True
        return False

    def run(self, words, seconds_max, environment=None, has_limits=True):
        """`has_limits`: the daemon says so in its status, which tests compare."""
        started = time.monotonic()
        inside = {"HOME": "/tmp/home", "TMPDIR": "/tmp", "MEMORY_KB_MAX": str(MEMORY_KB_MAX) if has_limits else ""}
        process = subprocess.Popen(
            [*self.words, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent, start_new_session=True,
            env={**os.environ, **inside, **(environment or {})})
        with self._lock:
            self._running.add(process)
            if self._stopped:
                process.kill()
        timed_out = threading.Event()
        timer = threading.Timer(seconds_max, lambda: (timed_out.set(), process.kill()))
        timer.start()
        try:
            output = read_end(process.stdout)
            status = process.wait()
        finally:
            # Killed, `unshare` takes the whole namespace along.
            process.kill()
            process.wait()
            timer.cancel()
            with self._lock:
                self._running.discard(process)
        return Finished(status, output, time.monotonic() - started, timed_out.is_set())

    def stop(self):
        with self._lock:
            self._stopped = True
            for process in self._running:
                process.kill()

    def start_again(self):
        with self._lock:
            self._stopped = False

    @property
    def is_stopped(self):
        return self._stopped


def read_end(stream):
    """The end of what is written, whatever its length."""
    kept = b""
    while piece := stream.read1(1 << 16):
        kept = (kept + piece)[-OUTPUT_BYTES_MAX:]
    stream.close()
    return kept.decode(errors="replace")
