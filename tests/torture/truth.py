"""What really happened, kept by the torturer itself: who was born and died when, what was answered.

Every death has two stamps: one taken before the act that killed, one after the kernel showed it dead.
The true time lies between them, however busy the machine is.
"""

import os
import signal
import threading

from procs import Handle, stat, wall


class Actor:
    """A process that the torturer started, or had started, and whose end it brings about."""

    def __init__(self, pid, name, gate=None, child=None):
        self.handle = Handle(pid)
        self.pid = pid
        self.name = name
        self.gate = gate            # a FIFO: what is written there is its exit status
        self.child = child          # the Popen, where it is a child of ours
        self.died = None            # (before, after)
        self.how = None             # "signal 9" or "exit 3": the words knell's detail must begin with
        self.stopped = False

    @property
    def dead(self):
        return self.died is not None

    def _ended(self, before, how, seconds=30):
        if not self.handle.wait(seconds):
            return False
        self.died, self.how = (before, wall()), how
        self.handle.close()
        return True

    def kill(self, number=signal.SIGKILL):
        """False when it does not die of this: then it lives on."""
        before = wall()
        self.handle.send(number)
        if self.stopped and number != signal.SIGKILL:
            self.handle.send(signal.SIGCONT)
        return self._ended(before, f"signal {int(number)}") and self.reap()

    def leave(self, status):
        """Lets it exit by itself."""
        if self.stopped:
            self.handle.send(signal.SIGCONT)
            self.stopped = False
        before = wall()
        try:
            gate = os.open(self.gate, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            return self.kill()      # it has not come to its gate yet
        os.write(gate, f"{status}\n".encode())
        os.close(gate)
        return self._ended(before, f"exit {status}") and self.reap()

    def died_with(self, before):
        """It was killed by something larger, such as the end of its pid namespace."""
        return self._ended(before, None)

    def reap(self):
        if self.child:
            self.child.wait()
        return True

    def lives(self):
        """Asks the kernel."""
        return self.handle.alive()


class Bystander:
    """A stranger that knell has no business with: signalled by nobody."""

    def __init__(self, pid, why, child=None):
        self.handle = Handle(pid)
        self.pid = pid
        self.why = why
        self.child = child

    def wrong(self):
        if not self.handle.alive():
            how = self.child.wait() if self.child else "?"
            return f"bystander {self.pid} ({self.why}) is dead, status {how}"
        seen = stat(self.pid)
        if seen and seen.state in "Tt":
            return f"bystander {self.pid} ({self.why}) was stopped"
        return None


class Lease:
    """An owner that knell cannot see: the thread of a gateway beats for it."""

    def __init__(self, ttl):
        self.ttl = ttl * 1000
        self.lock = threading.Lock()
        self.sent = []              # when a renewal was about to be written to the socket
        self.acknowledged = None    # of those, the last that was answered as renewed
        self.died = None
        self.how = None
        self.over = False           # the daemon says that it ended

    @property
    def dead(self):
        return self.died is not None

    def fall_silent(self):
        with self.lock:
            if not self.died:
                before = wall()
                self.died = (before, wall())


class Life:
    """One generation of one session."""

    def __init__(self, session, generation, owner, kind, **more):
        self.session = session
        self.generation = generation
        self.owner = owner              # an Actor or a Lease; None where nobody could tell which
        self.kind = kind                # process, lease, run
        self.park_s = more.get("park_s")
        self.certain = more.get("certain", True)    # the daemon acknowledged that it began
        self.ends_asked = []            # (before, how): ends that somebody asked for
        self.run = more.get("run")      # the Run whose command is the owner
        self.watched_said = None        # evidence of session.why, when it claimed to watch

    def __str__(self):
        return f"{self.session} generation {self.generation} ({self.kind})"


class Ledger:
    def __init__(self):
        self.lives = {}             # (session, generation): Life
        self.messages = {}          # session: [acknowledged, tried]
        self.bystanders = []
        self.leftovers = []         # (life, Handle, policy): plain children of commands
        self.interruptions = []     # of the daemon's life: stamps before
        self.wrong = []             # what was seen to be wrong on the way

    def add(self, life):
        self.lives[life.session, life.generation] = life
        return life

    def current(self, kind=None, dead=None):
        """The newest generation of each session that nobody asked to end."""
        newest = {}
        for life in self.lives.values():
            if life.session not in newest or life.generation > newest[life.session].generation:
                newest[life.session] = life
        return [life for life in newest.values()
                if not life.ends_asked and life.owner
                and (kind is None or life.kind == kind)
                and (dead is None or life.owner.dead == dead)]

    def blame(self, what):
        self.wrong.append(what)
