#!/usr/bin/env python3
"""Tortures a real knell daemon and judges what it says of it.  docs/testing.md tells how.

Each round is one seed: a home, a daemon, clients, commands and strangers of its own, in a pid and mount
namespace of its own where that is allowed; when the round ends or is interrupted, the kernel ends
everything in it.
"""

import argparse
import collections
import ctypes
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True      # the source tree stays as it is

from acts import perform, table
import acts_daemon
import checker
from faults import Faults
from leases import Gateway
from strangers import crowd_of_low_pids
from world import World, stop_everything

short_seconds = 12
fixed_seed = 902
pace = 0.02         # seconds between two acts


def options():
    parser = argparse.ArgumentParser(description="Torture a knell daemon.")
    parser.add_argument("--knell", default="build/release/knell", help="the binary [%(default)s]")
    parser.add_argument("--minutes", type=float, help="go on for so long, with a new seed each round")
    parser.add_argument("--seed", type=int, help="one round with this seed")
    parser.add_argument("--seconds", type=float, default=short_seconds, help="of one round [%(default)s]")
    parser.add_argument("--only", help="acts by name, with commas between them: nothing else happens")
    parser.add_argument("--trace", action="store_true", help="print each act")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    return parser.parse_args()


# Outside: one process a round, in namespaces of its own

def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)      # PR_SET_PDEATHSIG


def box():
    """How to get into namespaces of one's own: as root, or as the root of a user namespace; or not at all."""
    for mapping in ((), ("--user", "--map-root-user")):
        if os.geteuid() != 0 and not mapping:
            continue
        words = ["unshare", *mapping, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if shutil.which("unshare") and subprocess.run([*words, "true"], check=False, capture_output=True).returncode == 0:
            return words
    return []


def play(given, seed, words, done):
    """One round: its exit status, and in `done` what happened.  What it made is gone afterwards."""
    directory = tempfile.mkdtemp(prefix="knell-torture-")
    argv = [sys.executable, os.path.abspath(__file__), "--inside", directory, "--seed", str(seed),
            "--seconds", str(given.seconds), "--knell", os.path.abspath(given.knell)]
    argv += ["--trace"] if given.trace else []
    argv += ["--only", given.only] if given.only else []
    # Somebody must reap orphans where we are the first process.
    argv = [*words, "sh", "-c", '"$@" & wait $!', "sh", *argv] if words else argv
    inner = subprocess.Popen(argv, preexec_fn=die_with_parent)
    try:
        status = inner.wait()
        with open(f"{directory}/done", encoding="utf-8") as file:
            done.update(json.load(file))
        return status
    except FileNotFoundError:
        return status           # it did not get so far
    finally:
        inner.kill()
        inner.wait()
        shutil.rmtree(directory, ignore_errors=True)


def main():
    given = options()
    if given.inside:
        sys.exit(inside(given))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    words = box()
    if not words:
        print("skipped: pid and mount namespaces are not allowed here; no reused pids, no full disk")
    done = collections.Counter()
    if given.seed is not None:
        sys.exit(play(given, given.seed, words, done))
    first = random.SystemRandom().randrange(1 << 31)
    if given.minutes is None:
        sys.exit(play(given, fixed_seed, words, done) or play(given, first, words, done))
    until = time.monotonic() + given.minutes * 60
    rounds = status = 0
    while time.monotonic() < until and not status:
        status = play(given, first + rounds, words, done)
        rounds += 1
    print(f"{rounds} rounds, seeds {first} to {first + rounds - 1}, {told(done)}")
    print("a promise was broken, see above" if status else "no promise was broken")
    sys.exit(status)


def told(done):
    counts = ", ".join(f"{name} {count}" for name, count in done.most_common() if count)
    return f"{sum(done.values())} acts ({counts})"


# Inside: one round

def allowed(directory):
    """What this machine lets us do, and a line for each thing that it does not."""
    may = set()
    if os.getppid() == 1 and os.path.exists("/proc/sys/kernel/ns_last_pid"):
        if os.access("/proc/sys/kernel/ns_last_pid", os.W_OK):
            may |= {"ns_last_pid"}
        may |= {"nested", "boot id", "mount"}
    trace = ["strace", "-qq", "-o", "/dev/null", "-e", "inject=fdatasync:delay_enter=1", "true"]
    if shutil.which("strace") and subprocess.run(trace, check=False, capture_output=True).returncode == 0:
        may.add("strace")
    else:
        print("skipped: strace is not there or not allowed; no slow disk")
    return may


def mount_small_disk(world):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m,mode=0700", "knell", world.home], check=False)
    if mounted.returncode == 0:
        world.may.add("small disk")


def inside(given):
    print(f"seed {given.seed}: {given.seconds:g} s", flush=True)
    rng = random.Random(given.seed)
    world = World(given.inside, given.knell, rng, allowed(given.inside))
    faults = Faults(world)
    done = collections.Counter()
    trace = []
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    try:
        prepare(world)
        torment(world, faults, given, done, trace)
        wrong = checker.judge(world, faults)
    finally:
        stop_everything(world)
    with open(f"{given.inside}/done", "w", encoding="utf-8") as file:
        json.dump(done, file)
    print(f"seed {given.seed}: {told(done)}")
    print(f"  {checker.summary(world)}")
    if not wrong:
        return 0
    print(f"\nBROKEN, seed {given.seed}: {len(wrong)} violation(s)")
    sentences = list(checker.shortened(wrong))
    print("  - " + "\n  - ".join(sentences))
    print("the last acts:\n    " + "\n    ".join(trace[-25:]))
    print("the daemon's log on that, and its end:\n    " + "\n    ".join(telling(world.log(), sentences)))
    print(f"again: ./scripts/torture --seed {given.seed} --seconds {given.seconds:g}")
    return 1


def telling(log, sentences, lines=40):
    """The lines that name a session or a bystander that something is wrong with, and the last ones."""
    names = set(re.findall(r"\b(?:s|run)-[0-9]+\b|(?<=bystander )[0-9]+", " ".join(sentences)))
    about = [line for line in log if names & set(re.findall(r"[\w-]+", line))]
    return about[-lines:] + ["..."] + log[-10:]


def prepare(world):
    crowd_of_low_pids(world)
    if "mount" in world.may and world.rng.random() < 0.6:
        mount_small_disk(world)
    world.add_hooks()
    if not world.start():
        raise SystemExit("the daemon does not start:\n" + "\n".join(world.log()))
    world.gateways = [Gateway(world.socket) for _ in range(2)]
    world.start_follower()


def end_due(world, faults):
    faults.end_due()
    for pair in [pair for pair in world.floods if pair[0] <= time.monotonic()]:
        pair[1].stop()
        world.floods.remove(pair)


def torment(world, faults, given, done, trace):
    wanted = given.only.split(",") if given.only else [name for _, name, _ in table]
    weights = [weight * (name in wanted) for weight, name, _ in table]
    began = time.monotonic()
    world.tick = lambda: end_due(world, faults)
    while (now := time.monotonic()) < began + given.seconds:
        world.tick()
        if world.restart_at is not None and now >= world.restart_at:
            acts_daemon.start_again(world)
        for run in world.runs:
            run.settle()
        _, name, function = world.rng.choices(table, weights)[0]
        took = perform(world, faults, name, function)
        done[name] += took
        line = (f"{now - began:7.3f} s  {name}{'' if took else ' (in vain)'}; "
                f"{len(world.daemons())} daemon(s), on: {', '.join(faults.on) or '-'}; {len(world.ledger.wrong)} wrong")
        trace.append(line)
        if given.trace:
            print(line, flush=True)
        time.sleep(min(world.rng.expovariate(1 / pace), 10 * pace))


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
