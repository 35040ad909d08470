"""What can happen, and how often."""

import itertools
import time

import acts_calls as calls
import acts_daemon as daemon
import runs
import strangers
from client import NoAnswer, Refused
from flood import Flood


def flood(world):
    """As many writes as fit, while other faults are on; they are told apart from what is judged one by one."""
    lives = [life for life in world.ledger.current(kind="process", dead=False) if life.certain]
    targets = [(life.session, life.generation) for life, _ in zip(itertools.cycle(lives), range(60))]
    if targets:
        until = time.monotonic() + world.rng.uniform(4, 9)
        world.floods.append((until, Flood(world.socket, targets, world.ledger)))
    return bool(targets)


# (weight, name, function); a name alone is a fault of faults.table.
table = [
    (14, "own", calls.own),
    (6, "own by lease", calls.own_by_lease),
    (2, "own by script", calls.own_by_cli),
    (1, "own by thread", calls.own_by_thread),
    (16, "kill an owner", calls.kill_owner),
    (2, "pause an owner", calls.pause_owner),
    (3, "silence a lease", calls.silence_lease),
    (8, "append", calls.append),
    (3, "beat", calls.beat),
    (3, "close", calls.close),
    (4, "take over", calls.take_over),
    (2, "crowd", calls.crowd),
    (2, "flood", flood),
    (6, "run", runs.plain),
    (4, "run with children", runs.with_children),
    (2, "run in a run", runs.inside_another),
    (2, "run beside a run", runs.beside_another),
    (3, "run in a pid namespace", runs.in_a_namespace),
    (10, "end a run", runs.finish),
    (3, "kill the daemon", daemon.kill),
    (2, "restart the daemon", daemon.restart),
    (1, "hang up on the daemon", daemon.hang_up),
    (1, "remove the socket", daemon.remove_socket),
    (1, "second daemon", daemon.second_daemon),
    (1, "litter the spool", daemon.litter_spool),
    (2, "kill a hook", daemon.kill_hook),
    (2, "reuse a pid", strangers.reuse_pid),
    (1, "restart the host", strangers.restart_host),
    (4, "stop the daemon", None),
    (3, "fill the disk", None),
    (3, "lock the store", None),
    (3, "slow the disk", None),
    (2, "hang the hooks", None),
]


def perform(world, faults, name, function):
    """True when it could be done as things are."""
    if function is None:
        return faults.begin(name)
    try:
        return function(world) is not False
    except (NoAnswer, Refused):
        return False        # the daemon is away or in trouble: that is the point
