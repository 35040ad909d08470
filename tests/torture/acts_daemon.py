"""What happens to the daemon itself, its socket, its spool and its hooks."""

import os
import signal
import time

from procs import handle, wall, with_variable


def kill(world):
    """It comes back after a while, by itself or because a `knell run` starts it."""
    if world.kill_daemon():
        world.restart_at = time.monotonic() + world.rng.choice((0, 0, 0.3, 1.5))
    return world.restart_at is not None


def restart(world):
    if world.stalled:
        return False
    world.ledger.interruptions.append(wall())
    status, said = world.command("down")
    world.client.close()
    if "connections are open" in said:
        world.kill_daemon()     # a storm of writes leaves no room for anybody
    elif status != 0:
        world.ledger.blame(f"knell down failed: {said}")
    world.restart_at = time.monotonic()
    return True


def start_again(world):
    """Part of the time with few descriptors."""
    world.restart_at = None
    if not world.daemons():
        world.start(descriptors=world.rng.choice((None, 128, 256)), wait=not world.stalled)


def hang_up(world):
    daemons = world.daemons()
    if world.stalled or not daemons:
        return False
    daemons[0].send(signal.SIGHUP)
    if daemons[0].wait(0.5):
        world.ledger.blame("SIGHUP ended the daemon")
        world.restart_at = time.monotonic()
    return True


def must_answer(world, what, seconds=30):
    """The daemon that runs must be reachable under its own name."""
    answer = world.answers(seconds)
    if answer and answer["home"] == world.home:
        return
    said = f"its socket answers for {answer['home']}" if answer else "it does not answer"
    world.ledger.blame(f"after {what}, the daemon runs and {said}")
    world.kill_daemon()
    for pid in with_variable("KNELL_HOME", f"{world.dir}/second"):
        handle(pid).kill()
    world.start()


def remove_socket(world):
    if world.stalled or not world.answers(5):
        return False
    os.unlink(world.socket)
    world.client.close()
    must_answer(world, "its socket was removed")
    return True


def inode(path):
    try:
        return os.stat(path).st_ino
    except OSError:
        return None


def second_daemon(world):
    """Another home, started from inside a session of this one: it inherits KNELL_SOCKET."""
    if world.stalled or not world.answers(5):
        return False
    home = f"{world.dir}/second"
    os.makedirs(home, 0o700, exist_ok=True)
    variables = {**world.environment, "KNELL_HOME": home, "KNELL_SOCKET": world.socket}
    ours = inode(world.socket)
    second = world.spawn([world.knell, "up"], env=variables)
    world.wait(lambda: second.poll() is not None or os.path.exists(f"{home}/knell.sock")
               or inode(world.socket) != ours, 20)
    world.client.close()
    must_answer(world, "another home's daemon started with KNELL_SOCKET of this one")
    second.send_signal(world.rng.choice((signal.SIGTERM, signal.SIGKILL)))
    second.wait()
    world.client.close()
    must_answer(world, "another home's daemon ended")
    return True


def litter_spool(world):
    """A FIFO and nonsense where records are read from."""
    spool = f"{world.home}/spool"
    if not os.path.isdir(spool):
        return False
    name = f"{spool}/{world.name('litter')}.jsonl"
    if world.rng.random() < 0.5:
        os.mkfifo(name)
    else:
        try:
            with open(name, "w", encoding="utf-8") as file:
                file.write('{"v":1,"at":"never","method":"session.create"')
        except OSError:
            return False
    if not world.stalled and world.daemons():
        must_answer(world, "litter was put in its spool")
    return True


def kill_hook(world):
    pids = world.hook_processes()[:2]
    for held in filter(None, map(handle, pids)):
        held.kill()
        held.close()
    return bool(pids)
