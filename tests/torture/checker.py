"""The judge: makes everything well, kills everything, and then compares what knell says with the truth.

It reads through public interfaces only: calls, files of hooks, what the follower printed; and, once the
daemon is down, the store, to count starts and ends in it.
"""

import os
import re
import signal
import sqlite3
import time

import rules
from client import NoAnswer, Refused
from procs import clock_offset, handle, read, stat, wait_until, wall, with_executable
from runs import end as end_run
from world import wait_max


def judge(world, faults):
    """Sentences on what is wrong; none when every promise was kept."""
    wrong = world.ledger.wrong
    heal(world, faults)
    if not deaths_are_told(world, wrong):
        return wrong
    ask_why(world, wrong)
    wrong += filter(None, (bystander.wrong() for bystander in world.ledger.bystanders))
    massacre(world)
    if not deaths_are_told(world, wrong):
        return wrong
    # The spool of those that found no daemon is taken in at a start, if not before.
    if not restarts(world, wrong):
        return wrong
    everything_is_over(world, wrong)
    events = list(world.client.pages("events.read", {"after": 0, "limit": 5000}, "events", "after"))
    world.events = events
    everybody_heard(world, events, wrong)
    wrong += rules.structure(events)
    wrong += rules.ends(world.ledger, events, clock_is_steady(world))
    wrong += rules.messages(world.ledger, show_all(world))
    wrong += leftovers(world)
    wrong += filter(None, (b.wrong() for b in world.ledger.bystanders if b.wrong() not in wrong))
    wrong += nothing_left(world)
    wrong += rules.store(*read_store(world))
    return wrong


def shortened(wrong):
    """A few of each kind: what differs only in its numbers is of one kind."""
    kinds = {}
    for sentence in wrong:
        kinds.setdefault(re.sub(r"[0-9]+", "N", sentence.rsplit(": ", 1)[-1]), []).append(sentence)
    for alike in kinds.values():
        yield from alike[:3]
        if len(alike) > 3:
            yield f"... and {len(alike) - 3} more like this"


def summary(world):
    events = getattr(world, "events", [])
    ends = sum(event["type"] == "session:end" for event in events)
    return (f"{len(world.ledger.lives)} owners, {len(events)} events, {ends} ends, "
            f"{len(world.ledger.bystanders)} bystanders, {len(world.runs)} commands, "
            f"{sum(counts[0] for counts in world.ledger.messages.values())} messages, "
            f"slowest renewal {max((gateway.slowest for gateway in world.gateways), default=0) / 1000:.1f} s")


def heal(world, faults):
    faults.end_all()
    for _, flood in world.floods:
        flood.stop()
    world.floods.clear()
    world.client.close()
    if world.daemon_is_elsewhere():
        world.kill_daemon()
    if not world.daemons():
        world.start()
    elif not world.answers(wait_max):
        pids = [daemon.pid for daemon in world.daemons()]
        world.ledger.blame(f"all is well again, daemon {pids} runs, and it does not answer")
        world.kill_daemon()
        world.start()
    for run in world.runs:
        if run.never_ran():
            world.ledger.blame(f"{run.session}: knell run did not run its command: {read(run.stderr).decode()}")


def restarts(world, wrong):
    status, said = world.command("down")
    if status != 0:
        wrong.append(f"knell down failed: {said}")
    world.client.close()
    if not wait_until(lambda: not world.daemons(), wait_max) or not world.start():
        wrong.append("it does not start again after knell down")
        return False
    return True


def open_sessions(world):
    return [row["id"] for row in world.client.pages(
        "session.list", {"ended": False, "all": True, "limit": 1000}, "sessions", "cursor")]


def deaths_are_told(world, wrong):
    """Every session whose owner is dead ends by itself.  False when even that cannot be asked."""
    for run in world.runs:
        run.settle()
    dead = {life.session for life in world.ledger.current(dead=True)} - out_of_sight(world)
    untold = []

    def all_told():
        nonlocal untold
        untold = sorted(dead & set(open_sessions(world)))
        return not untold

    try:
        wait_until(all_told, wait_max)
    except (NoAnswer, Refused) as error:
        wrong.append(f"the daemon answers no more, though nothing is wrong any longer: {error}")
        return False
    for session in untold:
        life = max((l for (s, _), l in world.ledger.lives.items() if s == session), key=lambda l: l.generation)
        watched = f"; it was said to be watched: {life.watched_said}" if life.watched_said else ""
        wrong.append(f"{life}: its owner died {age(life)} s ago and it is still open{watched}; "
                     f"why: {why(world, session).get('evidence')}")
    return True


def out_of_sight(world):
    """Commands in a namespace that is over before any daemon heard of them.

    Only a daemon in the machine's first namespace can tell that another is gone; ours is not.
    """
    return {run.session for run in world.runs if run.nested and read(run.stderr)}


def age(life):
    return f"{time.time() - life.owner.died[1] / 1000:.0f}"


def why(world, session):
    try:
        return world.client.call("session.why", {"session_id": session})
    except (NoAnswer, Refused) as error:
        return {"evidence": str(error)}


def ask_why(world, wrong):
    """What is said to be watched is about to be killed, and must be noticed."""
    lives = world.ledger.current(kind="process", dead=False)
    for life in world.rng.sample(lives, min(len(lives), 60)):
        answer = why(world, life.session)
        if answer.get("verdict") == "dead":
            wrong.append(f"{life}: its owner lives, and session.why says dead: {answer['evidence']}")
        elif answer.get("verdict") == "alive":
            life.watched_said = answer["evidence"]


def massacre(world):
    for gateway in world.gateways:
        for _, lease in gateway.leases.values():
            lease.fall_silent()
        gateway.close()
    for life in list(world.ledger.lives.values()):
        if life.kind == "process" and not life.owner.dead:
            life.owner.kill(signal.SIGKILL)
    for run in world.runs:
        run.settle()
        if run.life and not run.command.dead:
            end_run(world, run, gently=True)
        if run.life and not run.command.dead:
            run.command.kill()
    for run in world.runs:
        run.settle()


def spooled(world):
    return sorted(name for name in os.listdir(f"{world.home}/spool") if name.endswith(".jsonl"))


def everything_is_over(world, wrong):
    """Nobody is left who could keep a session open."""
    left = []

    def over():
        nonlocal left
        left = open_sessions(world)
        return not set(left) - out_of_sight(world)

    # What is still to be taken in opens sessions, too.
    if not wait_until(lambda: not spooled(world), wait_max):
        wrong.append(f"the spool is not taken in: {spooled(world)}")
    wait_until(over, wait_max)
    for life in [life for life in world.ledger.current(kind="run") if life.session in out_of_sight(world) & set(left)]:
        if why(world, life.session).get("verdict") == "unknown":
            life.ends_asked.append((wall(), "close"))       # as a person would
            world.client.call("session.close", {"session_id": life.session})
            left.remove(life.session)
    for session in left:
        wrong.append(f"{session}: everybody is dead, and it is still open; why: {why(world, session).get('evidence')}")


def everybody_heard(world, events, wrong):
    wanted = rules.asked_for(events)
    for hook in ("recorder", "flaky"):
        def all_heard(name=hook):
            try:
                world.client.call("hooks.retry", {"name": name})
            except Refused:
                pass
            return wanted <= {seq for seq, _ in world.heard(name)}

        wait_until(all_heard, wait_max, step=0.25)
        wrong += rules.heard(hook, events, world.heard(hook))
    last = events[-1]["seq"]
    wait_until(lambda: any(event["seq"] >= last for event in world.followed()[-5:]), wait_max)
    followed = [event["seq"] for event in world.followed() if event["seq"] <= last]
    if followed != list(range(1, last + 1)):
        wrong.append(f"the follower printed {len(followed)} of {last} events, or not in order")


def show_all(world):
    rows = world.client.pages("session.list", {"all": True, "limit": 1000}, "sessions", "cursor")
    return {row["id"]: row for row in rows}


def clock_is_steady(world):
    """Somebody else may set the clock of a machine that is not ours alone."""
    step = clock_offset() - world.clock_offset
    if abs(step) > rules.lateness:
        print(f"skipped: the clock was set by {step:.0f} ms meanwhile; times are not judged")
    return abs(step) <= rules.lateness


def leftovers(world):
    """`--leftovers stop`: gone, unless daemon or wrapper were killed before they could see to it.

    A run that found no daemon says so, and nobody looks for what it left.
    """
    wrong = []
    for run, child in world.ledger.leftovers:
        disturbed = run.wrapper_killed or read(run.stderr) or any(run.launched < kill for kill in world.ledger.interruptions)
        if not disturbed and not child.wait(wait_max):
            wrong.append(f"{run.session}: --leftovers stop, and its child {child.pid} still runs")
        child.kill()
    return wrong


def nothing_left(world):
    """After `knell down`: no daemon, no wrapper, no hook, no socket."""
    wrong = []
    world.follower.send_signal(signal.SIGTERM)
    world.follower.wait(wait_max)
    status, said = world.command("down")
    if status != 0:
        wrong.append(f"knell down failed: {said}")

    def left():
        return [pid for pid in with_executable(world.knell) + world.hook_processes()
                if (seen := stat(pid)) and seen.state not in "ZX"]

    wait_until(lambda: not left(), wait_max / 2)
    for pid in left():
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            wrong.append(f"after knell down process {pid} is left: {file.read().replace(bytes(1), b' ').decode()}")
        handle(pid).kill()
    return wrong + rules.no_socket(world.socket)


def read_store(world):
    store = sqlite3.connect(f"file:{world.home}/knell.db?mode=ro", uri=True)
    counts = store.execute("SELECT session_id, generation, type, count(*) FROM events WHERE type IN "
                           "('session:start', 'session:end') GROUP BY 1, 2, 3").fetchall()
    unended = store.execute("SELECT id FROM sessions WHERE ended_at IS NULL").fetchall()
    health = store.execute("PRAGMA integrity_check").fetchone()[0]
    store.close()
    return counts, unended, health
