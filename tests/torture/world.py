"""One home with its daemon, its hooks and its follower; and the hand that starts and stops them."""

import json
import os
import shutil
import signal
import subprocess
import time

from client import Client, NoAnswer, Refused
from procs import arguments, clock_offset, environment, handle, namespace, read, wait_until, wall, with_executable, with_variable
from truth import Actor, Ledger

wait_max = 60       # seconds that anything may take on a busy machine, once all is well again

recorder = """#!/bin/sh
echo "$KNELL_EVENT_SEQ $KNELL_EVENT $KNELL_SESSION_ID" >> {dir}/heard-recorder
"""

# Fails once for some events, and hangs while told to.
flaky = """#!/bin/sh
if [ -e {dir}/hang ]; then sleep 100000; fi
case $KNELL_EVENT_SEQ in *3) if [ ! -e {dir}/tried/$KNELL_EVENT_SEQ ]; then
    : > {dir}/tried/$KNELL_EVENT_SEQ
    exit 1
fi ;; esac
echo "$KNELL_EVENT_SEQ $KNELL_EVENT $KNELL_SESSION_ID" >> {dir}/heard-flaky
"""


class World:
    def __init__(self, directory, binary, rng, may):
        self.dir = directory
        self.rng = rng
        self.may = may                      # what this machine allows: a set of words
        self.home = f"{directory}/home"
        self.socket = f"{self.home}/knell.sock"
        # A copy: what runs it is knell's and of this run, whatever is built meanwhile.
        self.knell = f"{directory}/knell"
        shutil.copy(binary, self.knell)
        self.environment = {"PATH": os.environ["PATH"], "HOME": directory, "KNELL_HOME": self.home}
        self.client = Client(self.socket)
        self.ledger = Ledger()
        self.clock_offset = clock_offset()
        self.stalled = False                # something keeps the daemon from answering
        self.numbers = {}
        self.follower = None
        self.gateways = []
        self.runs = []
        self.floods = []                    # (until, Flood)
        self.tick = lambda: None            # ends what is over while somebody waits
        self.restart_at = None              # when a daemon that was killed is started again
        os.mkdir(self.home, 0o700)
        os.mkdir(f"{directory}/tried")

    def wait(self, condition, seconds):
        """As wait_until; faults end in time all the same."""
        def ask():
            self.tick()
            return condition()
        return wait_until(ask, seconds)

    def name(self, kind):
        self.numbers[kind] = self.numbers.get(kind, 0) + 1
        return f"{kind}-{self.numbers[kind]}"

    # Starting and stopping

    def add_hooks(self):
        for name, text in (("recorder", recorder), ("flaky", flaky)):
            place = f"{self.home}/hooks/{name}"
            os.makedirs(place, 0o700)
            with open(f"{place}/HOOK.yaml", "w", encoding="utf-8") as file:
                file.write("events: ['session:*']\ntimeout: 3\nconcurrency: 4\n")
            with open(f"{place}/run", "w", encoding="utf-8") as file:
                file.write(text.format(dir=self.dir))
            os.chmod(f"{place}/run", 0o700)
        os.chmod(f"{self.home}/hooks", 0o700)

    def spawn(self, argv, **more):
        """A child in a session of its own, which nothing reads from or writes to."""
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        more = {**quiet, "env": self.environment, "start_new_session": True, "cwd": self.dir, **more}
        return subprocess.Popen(argv, **more)

    def start(self, descriptors=None, wait=True):
        limit = f"ulimit -n {descriptors}; " if descriptors else ""
        with open(f"{self.dir}/daemon.log", "ab") as log:
            self.spawn(["sh", "-c", limit + 'exec "$0" up', self.knell], stderr=log)
        return self.answers(wait_max) if wait else True

    def start_follower(self):
        with open(f"{self.dir}/followed", "ab") as out:
            self.follower = self.spawn([self.knell, "events", "--follow", "--after", "0", "--json"], stdout=out)
        # It waits for a daemon that went away, not for one that never was.
        return self.wait(lambda: os.path.getsize(f"{self.dir}/followed") > 0, wait_max)

    def answers(self, seconds):
        """Whether a daemon answers, within so many seconds."""
        def ask():
            try:
                return self.client.call("node.status", seconds=min(seconds, 5))
            except (NoAnswer, Refused):
                return None
        return self.wait(ask, seconds)

    def daemons(self):
        """Daemons of this home, by what the kernel says of them."""
        home = f"KNELL_HOME={self.home}".encode()
        pids = [pid for pid in with_executable(self.knell)
                if "up" in arguments(pid)[1:2] and home in environment(pid)]
        return [held for held in map(handle, pids) if held and held.alive()]

    def daemon_is_elsewhere(self):
        """A `knell run` in a pid namespace of its own may have started it there: it sees little of us."""
        ours = os.readlink("/proc/self/ns/pid")
        return any(namespace(daemon.pid) not in (ours, None) for daemon in self.daemons())

    def kill_daemon(self):
        daemons = self.daemons()
        self.ledger.interruptions.append(wall())
        for daemon in daemons:
            daemon.kill()
        self.client.close()
        return bool(daemons)

    def command(self, *words, seconds=wait_max, variables=None):
        """Runs knell itself: (exit status, what it said)."""
        done = subprocess.run([self.knell, *words], env=variables or self.environment, cwd=self.dir,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=seconds, check=False, start_new_session=True)
        return done.returncode, done.stdout.decode(errors="replace")

    # Calls

    def call(self, method, params):
        self.tick()
        return self.client.call(method, params, seconds=0.25 if self.stalled else 20)

    # Processes of the torturer's own

    def script(self, text, gate_name):
        """What a command does: says who it is, does `text`, waits at its gate and exits as told."""
        gate, said = f"{self.dir}/{gate_name}.gate", f"{self.dir}/{gate_name}.pid"
        os.mkfifo(gate)
        file_name = f"{self.dir}/{gate_name}.sh"
        with open(file_name, "w", encoding="utf-8") as file:
            file.write(f"{text}\necho $$ > {said}\nread status < {gate}\nexit $status\n")
        return ["sh", file_name], gate, said

    def actor(self):
        """A process that lives until it is told otherwise."""
        name = self.name("actor")
        argv, gate, _ = self.script("", name)
        child = self.spawn(argv)
        return Actor(child.pid, name, gate, child)

    def hook_processes(self):
        """Hooks of this home that run, whoever started them."""
        return [pid for pid in with_variable("KNELL_HOME", self.home)
                if any(entry.startswith(b"KNELL_EVENT=") for entry in environment(pid))]

    def heard(self, hook):
        """(seq, session) of each time this hook was run to its end."""
        try:
            with open(f"{self.dir}/heard-{hook}", encoding="utf-8") as file:
                rows = [line.split(" ") for line in file.read().splitlines()]
        except FileNotFoundError:
            return []
        return [(int(row[0]), row[2]) for row in rows]

    def followed(self):
        with open(f"{self.dir}/followed", encoding="utf-8") as file:
            return [json.loads(line) for line in file.read().split("\n")[:-1]]

    def log(self):
        """Of all its daemons, by time."""
        lines = []
        for name in (f"{self.home}/knell.log", f"{self.dir}/daemon.log"):
            lines += read(name).decode(errors="replace").splitlines()
        return sorted(lines)


def stop_everything(world):
    """Ends all that this run started, by proof: its executable, or its home in the environment."""
    if world.follower:
        world.follower.send_signal(signal.SIGTERM)
    for _ in range(3):
        pids = set(with_executable(world.knell)) | set(with_variable("HOME", world.dir))
        pids |= set(with_variable("KNELL_HOME", world.home))
        for pid in pids - {os.getpid()}:
            held = handle(pid)
            if held:
                held.send(signal.SIGKILL)
                held.close()
        time.sleep(0.05)
