"""Processes, as the kernel tells them: no word of knell's is trusted here."""

import os
import select
import signal
import time


def wall():
    """Milliseconds since 1970: what knell's times are compared with."""
    return time.time_ns() / 1e6


def clock_offset():
    """Milliseconds between the clock on the wall and one that nobody sets."""
    return wall() - time.monotonic_ns() / 1e6


def read(path):
    """The bytes of a small file, or b"" where it is gone or may not be read."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


class Stat:
    """One line of /proc/PID/stat."""

    def __init__(self, pid, text):
        fields = text[text.rindex(b")") + 2:].split()
        self.pid = pid
        self.state = fields[0].decode()
        self.parent, self.group, self.session = (int(fields[i]) for i in (1, 2, 3))
        self.ticks = int(fields[19])


def stat(pid):
    text = read(f"/proc/{pid}/stat")
    return Stat(pid, text) if text else None


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def environment(pid):
    return read(f"/proc/{pid}/environ").split(b"\0")


def arguments(pid):
    return read(f"/proc/{pid}/cmdline").decode(errors="replace").split("\0")[:-1]


def innermost_pid(pid):
    """What the process itself calls its pid: another number in a pid namespace of its own."""
    for line in read(f"/proc/{pid}/status").splitlines():
        if line.startswith(b"NSpid:"):
            return int(line.split()[-1])
    return pid


def namespace(pid):
    """Of pids; None when it cannot be told."""
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


def with_executable(path):
    """Pids that run this very file."""
    found = []
    for pid in all_pids():
        try:
            if os.readlink(f"/proc/{pid}/exe") == path:
                found.append(pid)
        except OSError:
            pass  # a kernel thread, or gone
    return found


def with_variable(name, value):
    wanted = f"{name}={value}".encode()
    return [pid for pid in all_pids() if wanted in environment(pid)]


def descendants(pid):
    children = {}
    for other in all_pids():
        seen = stat(other)
        if seen:
            children.setdefault(seen.parent, []).append(other)
    found, todo = [], [pid]
    while todo:
        more = children.get(todo.pop(), [])
        found += more
        todo += more
    return found


class Handle:
    """One process, held by a descriptor: the number may pass to another, the descriptor never does."""

    def __init__(self, pid):
        self.pid = pid
        self.fd = os.pidfd_open(pid)

    def alive(self):
        return not self.wait(0)

    def send(self, number):
        """False when it is gone."""
        try:
            signal.pidfd_send_signal(self.fd, number)
            return True
        except (ProcessLookupError, TypeError):
            return False

    def wait(self, seconds):
        """Whether it is dead by then."""
        if self.fd is None:
            return True
        poll = select.poll()
        poll.register(self.fd, select.POLLIN)
        return bool(poll.poll(seconds * 1000))

    def kill(self, seconds=20):
        self.send(signal.SIGKILL)
        return self.wait(seconds)

    def __del__(self):
        self.close()

    def close(self):
        if getattr(self, "fd", None) is not None:
            os.close(self.fd)
            self.fd = None


def handle(pid):
    """None when there is no such process."""
    try:
        return Handle(pid)
    except (ProcessLookupError, OSError):
        return None


def wait_until(condition, seconds, step=0.02):
    """What the condition gave last: true as soon as it holds, false when time is up."""
    deadline = time.monotonic() + seconds
    while True:
        answer = condition()
        if answer or time.monotonic() > deadline:
            return answer
        time.sleep(step)
        step = min(step * 1.5, 0.25)
