"""Bystanders: processes that look like knell's and are not.  Whoever signals one of them is wrong."""

import signal
import subprocess
import uuid

from procs import all_pids, handle, stat, wait_until, with_executable
from runs import launch
from truth import Bystander

family = "sleep 100000 & exec sleep 100000"     # two in one group


def add(world, why, variables=None):
    child = world.spawn(["sh", "-c", family], env={**world.environment, **(variables or {})})
    watch_group(world, child, why)
    return child


def watch_group(world, child, why):
    def members():
        found = [pid for pid in all_pids() if (seen := stat(pid)) and seen.group == child.pid]
        return found if len(found) >= 2 else None
    for pid in wait_until(members, 10) or [child.pid]:
        world.ledger.bystanders.append(Bystander(pid, why, child if pid == child.pid else None))


def crowd_of_low_pids(world):
    """The numbers that pid namespaces inside ours will use again."""
    for _ in range(12):
        add(world, "a low pid")
    for number in (1, 2, 3):
        add(world, "the cookie of another daemon's session",
            {"KNELL_SESSION_ID": f"run-{number}", "KNELL_SOCKET": f"{world.dir}/other/knell.sock"})


def take_pid(world, pid, why):
    """A stranger that leads a group under a number that has just become free."""
    for _ in range(60):
        try:
            with open("/proc/sys/kernel/ns_last_pid", "w", encoding="utf-8") as file:
                file.write(str(pid - 1))
        except OSError:
            return False
        child = subprocess.Popen(["sh", "-c", family], start_new_session=True, env=world.environment,
                                 stdin=subprocess.DEVNULL)
        if child.pid == pid:
            watch_group(world, child, why)
            return True
        child.kill()
        child.wait()
        wait_until(lambda: end_group(child.pid), 5)
    return False


def end_group(group):
    members = [pid for pid in all_pids() if (seen := stat(pid)) and seen.group == group and seen.state != "Z"]
    for held in filter(None, map(handle, members)):
        held.send(signal.SIGKILL)
        held.close()
    return not members


def reuse_pid(world):
    """Daemon, wrapper and command are killed; a stranger gets the command's pid; the daemon starts."""
    if "ns_last_pid" not in world.may:
        return False
    policy = world.rng.choice(("stop", "stop", "report"))
    run = launch(world, options=("--leftovers", policy))
    if not run.life:
        return False
    world.kill_daemon()
    run.kill_wrapper()
    pid = run.command.pid
    if not run.command.kill() or not wait_until(lambda: stat(pid) is None, 10):
        return False
    taken = take_pid(world, pid, f"has the pid of the command of {run.session}")
    world.start(wait=not world.stalled)
    return taken


def restart_host(world):
    """As far as knell can see: another boot id, and none of its processes is left."""
    if "boot id" not in world.may:
        return False
    world.kill_daemon()
    pids = []
    for run in world.runs:
        run.settle()
        if run.wrapper.poll() is None and not run.borrowed:
            run.kill_wrapper()
        if run.life and not run.command.dead:
            pids.append(run.command.pid)
            run.command.kill()
    for life in world.ledger.lives.values():
        if life.kind == "process" and not life.owner.dead:
            pids.append(life.owner.pid)
            life.owner.kill()
    # Also those daemons that wrappers started when their commands died.
    for held in filter(None, (handle(pid) for pid in with_executable(world.knell) if pid != world.follower.pid)):
        held.kill()
    with open(f"{world.dir}/boot_id", "w", encoding="utf-8") as file:
        file.write(f"{uuid.uuid4()}\n")
    subprocess.run(["mount", "--bind", f"{world.dir}/boot_id", "/proc/sys/kernel/random/boot_id"], check=True)
    world.may -= {"nested", "boot id"}      # a new /proc would show the old one
    if "ns_last_pid" in world.may:
        for pid in [pid for pid in pids if stat(pid) is None][:3]:
            take_pid(world, pid, "has the pid of an owner before the restart")
    world.start(wait=not world.stalled)
    return True
