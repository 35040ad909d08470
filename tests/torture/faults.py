"""What goes wrong for a while, and is then made well again.

Each fault is a pair: begin, which gives what is needed to end it or None when it cannot be had now, and
end.  Some keep the daemon from answering: calls are then given up soon.
"""

import os
import signal
import subprocess
import sys
import time

from procs import wait_until

hold_lock = """
import sqlite3, sys, time
store = sqlite3.connect(sys.argv[1], timeout=5, isolation_level=None)
store.execute("PRAGMA wal_autocheckpoint = 0")
store.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
time.sleep(1000)
"""


def stop_daemon(world):
    daemons = world.daemons()
    for daemon in daemons:
        daemon.send(signal.SIGSTOP)
    return daemons or None


def continue_daemon(_world, daemons):
    for daemon in daemons:
        daemon.send(signal.SIGCONT)
        daemon.close()


def fill_disk(world):
    ballast = f"{world.home}/ballast"
    try:
        with open(ballast, "wb", buffering=0) as file:
            while file.write(b"b" * 4096):
                pass
    except OSError:
        pass
    return ballast


def free_disk(_world, ballast):
    os.unlink(ballast)


def lock_store(world):
    """The holder is killed in the end and never closes: a close could checkpoint beside the daemon."""
    if not os.path.exists(f"{world.home}/knell.db"):
        return None
    holder = world.spawn([sys.executable, "-c", hold_lock, f"{world.home}/knell.db"], stdout=subprocess.PIPE)
    if holder.stdout.readline():
        return holder
    holder.wait()
    return None


def unlock_store(_world, holder):
    holder.kill()
    holder.wait()
    holder.stdout.close()


def slow_disk(world):
    daemons = world.daemons()
    if not daemons:
        return None
    delay = world.rng.choice((300_000, 1_000_000))
    tracer = world.spawn(["strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
                          f"inject=fdatasync:delay_enter={delay}", "-p", str(daemons[0].pid)])
    time.sleep(0.1)
    return tracer if tracer.poll() is None else None


def fast_disk(_world, tracer):
    """SIGTERM makes it detach; a tracer that is killed would leave nothing stopped either."""
    tracer.terminate()
    if not wait_until(lambda: tracer.poll() is not None, 20):
        tracer.kill()
    tracer.wait()


def hang_hooks(world):
    flag = f"{world.dir}/hang"
    with open(flag, "w", encoding="utf-8"):
        return flag


def free_hooks(_world, flag):
    os.unlink(flag)


class Fault:
    def __init__(self, begin, end, seconds, **more):
        self.begin = begin
        self.end = end
        self.seconds = seconds                  # (shortest, longest)
        self.needs = more.get("needs")          # what the machine must allow
        self.stalls = more.get("stalls", True)
        self.not_with = more.get("not_with", ())


table = {
    "stop the daemon": Fault(stop_daemon, continue_daemon, (0.3, 2.0), not_with=("slow the disk",)),
    "fill the disk": Fault(fill_disk, free_disk, (0.5, 3.0), needs="small disk"),
    "lock the store": Fault(lock_store, unlock_store, (0.5, 4.0)),
    "slow the disk": Fault(slow_disk, fast_disk, (2.0, 8.0), needs="strace", not_with=("stop the daemon",)),
    "hang the hooks": Fault(hang_hooks, free_hooks, (1.0, 5.0), stalls=False),
}


class Faults:
    """The faults that are on, and when each is over."""

    def __init__(self, world):
        self.world = world
        self.on = {}            # name: (until, what begin gave)
        # Between faults things must get going again, or there is nobody left to suffer the next.
        self.calm_until = time.monotonic() + 1

    def begin(self, name):
        fault = table[name]
        if name in self.on or any(other in self.on for other in fault.not_with):
            return False
        if time.monotonic() < self.calm_until or (self.on and self.world.rng.random() < 0.7):
            return False
        if fault.needs and fault.needs not in self.world.may:
            return False
        token = fault.begin(self.world)
        if token is None:
            return False
        self.on[name] = (time.monotonic() + self.world.rng.uniform(*fault.seconds), token)
        self.update()
        return True

    def end_due(self):
        for name, (until, _) in list(self.on.items()):
            if time.monotonic() >= until:
                self.end(name)

    def end(self, name):
        if name in self.on:
            _, token = self.on.pop(name)
            table[name].end(self.world, token)
            self.update()
        if not self.on:
            self.calm_until = time.monotonic() + self.world.rng.uniform(0.5, 2.0)

    def end_all(self):
        for name in list(self.on):
            self.end(name)

    def update(self):
        self.world.stalled = any(table[name].stalls for name in self.on)
