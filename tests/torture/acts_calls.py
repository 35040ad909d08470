"""What clients do over the socket: sessions with owners of every kind, opened, written to and taken over."""

import os
import signal
import subprocess
import sys

from client import NoAnswer, Refused, Unreachable
from procs import wall
from truth import Actor, Lease, Life

deadly = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGSEGV)


def create(world, owner, given, kind, **more):
    """One session.create, and what is known of it afterwards.  None when it was refused."""
    session = more.pop("session", None) or world.name("s")
    params = {"id": session, "source": "cli", "owner": given, **more}
    life = Life(session, 1, owner, kind, park_s=more.get("park_s"))
    try:
        world.call("session.create", params)
    except Unreachable:
        return None
    except Refused as refusal:
        if refusal.kind not in ("storage", "limit", "internal") and not world.daemon_is_elsewhere():
            world.ledger.blame(f"session.create {params} was refused, its owner lives: {refusal}")
        return None
    except NoAnswer:
        life.certain = False
    world.ledger.messages.setdefault(session, [0, 0])
    return world.ledger.add(life)


def own(world):
    actor = world.actor()
    for _ in range(world.rng.randint(1, 3)):
        more = {}
        if world.rng.random() < 0.25:
            more = {"on_owner_loss": "park", "park_s": world.rng.randint(1, 4)}
        given = {"pid": actor.pid}
        if world.rng.random() < 0.2:
            given["lease_ttl_s"] = 5        # it never renews: late, and alive
        life = create(world, actor, given, "process", **more)
        if not life or not life.certain:
            break


def own_by_lease(world):
    lease = Lease(world.rng.randint(5, 6))
    before = wall()
    life = create(world, lease, {"lease_ttl_s": lease.ttl // 1000}, "lease")
    if life:
        lease.sent.append(before)
        if life.certain:
            lease.acknowledged = before
        world.rng.choice(world.gateways).add(life.session, 1, lease)


def own_by_cli(world):
    """A script's session: its owner is the shell that calls `knell rpc`."""
    if world.stalled:
        return False
    session, name = world.name("s"), world.name("script")
    call = f"{world.knell} rpc session.create '{{\"id\":\"{session}\",\"source\":\"cli\"}}' > /dev/null 2>&1"
    argv, gate, said = world.script(f"{call} || echo no > {world.dir}/{name}.no", name)
    child = world.spawn(argv)
    actor = Actor(child.pid, name, gate, child)
    if not world.wait(lambda: os.path.exists(said), 30):
        actor.kill()
    certain = not actor.dead and not os.path.exists(f"{world.dir}/{name}.no")
    world.ledger.add(Life(session, 1, actor, "process", certain=certain))
    return True


thread_owner = """
import os, sys, threading
def work():
    print(threading.get_native_id(), flush=True)
    sys.stdin.readline()
    gone.set()
gone = threading.Event()
threading.Thread(target=work).start()
gone.wait()
print("thread over", flush=True)
threading.Event().wait()
"""


def own_by_thread(world):
    """A thread's id is given as the owner's pid; the thread ends and its process lives on."""
    child = world.spawn([sys.executable, "-c", thread_owner], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    thread = int(child.stdout.readline())
    actor = Actor(child.pid, world.name("threads"), None, child)
    actor.leave = lambda _status: actor.kill()
    life = create(world, actor, {"pid": thread}, "process")
    child.stdin.write(b"\n")
    child.stdin.flush()
    child.stdout.readline()
    if not life:
        actor.kill()


def kill_owner(world):
    lives = world.ledger.current(kind="process", dead=False)
    for life in world.rng.sample(lives, min(len(lives), world.rng.randint(1, 3))):
        if life.owner.dead:
            continue            # with a session before
        if world.rng.random() < 0.3:
            life.owner.leave(world.rng.choice((0, 1, 3, 77)))
        else:
            life.owner.kill(world.rng.choice(deadly))
    return bool(lives)


def pause_owner(world):
    """A process that is stopped is not dead."""
    for life in world.ledger.current(kind="process", dead=False)[:3]:
        life.owner.handle.send(signal.SIGCONT if life.owner.stopped else signal.SIGSTOP)
        life.owner.stopped = not life.owner.stopped


def silence_lease(world):
    lives = world.ledger.current(kind="lease", dead=False)
    if lives:
        world.rng.choice(lives).owner.fall_silent()
    return bool(lives)


def append(world):
    lives = [life for life in world.ledger.current(dead=False) if life.certain and life.kind != "run"]
    for life in world.rng.sample(lives, min(len(lives), 5)):
        counts = world.ledger.messages.setdefault(life.session, [0, 0])
        message = {"role": "user", "content": "m" * world.rng.choice((1, 100, 5000)), "tokens": 1}
        counts[1] += 1
        try:
            world.call("session.append", {"session_id": life.session, "generation": life.generation,
                                          "messages": [message]})
            counts[0] += 1
            turn = world.rng.choice(("turn.start", "turn.end"))
            world.call(turn, {"session_id": life.session, "generation": life.generation})
        except Refused as refusal:
            if life.kind == "process" and refusal.kind in ("ended", "fenced", "not_found"):
                world.ledger.blame(f"{life}: its owner lives, yet append says {refusal.kind}: {refusal}")
        except NoAnswer:
            pass


def beat(world):
    """Process owners beat too: of an uncertain one, that is their sign of life."""
    lives = [life for life in world.ledger.current(kind="process", dead=False) if life.certain]
    if lives:
        world.call("session.heartbeat", {"sessions": [
            {"session_id": life.session, "generation": life.generation} for life in lives]})


def close(world):
    """Somebody ends it while its owner lives; what he says of it is only his word."""
    lives = [life for life in world.ledger.current(dead=False) if life.certain and life.kind != "run"]
    if not lives:
        return False
    life = world.rng.choice(lives)
    reason = world.rng.choice(("completed", "manual_reset", "owner_lost", "signaled", "oom_killed"))
    life.ends_asked.append((wall(), "close"))
    try:
        world.call("session.close", {"session_id": life.session, "generation": life.generation, "reason": reason})
    except Refused as refusal:
        if refusal.kind != "storage":
            world.ledger.blame(f"{life}: session.close by its owner was refused: {refusal}")
    return True


def take_over(world):
    """Another process takes the session: the one before must not write any more."""
    lives = [life for life in world.ledger.current(kind="process") if life.certain]
    if world.stalled or not lives:
        return False
    life, heir = world.rng.choice(lives), world.actor()
    asked = (wall(), "takeover")
    try:
        # A dead owner's session can be had without taking it from anybody.
        force = not life.owner.dead or world.rng.random() < 0.5
        answer = world.call("session.resume", {"session_id": life.session, "takeover": force,
                                               "owner": {"pid": heir.pid}})
    except Refused:
        heir.kill()
        return False
    life.ends_asked.append(asked)
    world.ledger.add(Life(life.session, answer["generation"], heir, "process"))
    try:
        world.call("session.append", {"session_id": life.session, "generation": life.generation,
                                      "messages": [{"role": "user", "content": "late"}]})
        world.ledger.blame(f"{life}: a write of its owner was taken after generation {answer['generation']} began")
    except Refused as refusal:
        if refusal.kind not in ("fenced", "storage"):
            world.ledger.blame(f"{life}: a stale write was refused as {refusal.kind}, not as fenced")
    return True


def crowd(world):
    """More owners than a daemon with few descriptors can hold by one each."""
    if world.stalled:
        return False
    actors = [world.actor() for _ in range(world.rng.choice((60, 150, 260)))]
    for actor in actors:
        create(world, actor, {"pid": actor.pid}, "process")
    world.rng.shuffle(actors)
    for actor in actors[:len(actors) * world.rng.randint(0, 3) // 3]:
        actor.kill()
    beat(world)         # those that could not be watched are uncertain no longer
    return True
