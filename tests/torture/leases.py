"""Owners of leases, as a gateway has them: many on one connection, renewed in one call."""

import json
import os
import select
import socket
import threading

from procs import wall


class Gateway(threading.Thread):
    """Beats for its leases until it is closed; while the daemon is away it tries to reach it."""

    period = 0.7

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
        self.lock = threading.Lock()
        self.leases = {}            # session: (generation, Lease)
        self.closed = threading.Event()
        self.link = None
        self.buffer = b""
        self.number = 0
        self.waiting = {}           # number of a call: when it was sent
        self.slowest = 0            # milliseconds that an answer took
        self.accepted = False       # the daemon has answered on this connection
        self.start()

    def add(self, session, generation, lease):
        with self.lock:
            self.leases[session] = (generation, lease)

    def close(self):
        self.closed.set()
        self.join(10)

    def run(self):
        while not self.closed.is_set():
            try:
                self.beat()
                self.hear(self.period)
            except OSError:
                self.drop()
                self.closed.wait(0.1)
        self.drop()

    def drop(self):
        if self.link:
            self.link.close()
        self.link, self.buffer, self.waiting, self.accepted = None, b"", {}, False

    def beat(self):
        if self.link is None:
            self.link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.link.settimeout(1)
            self.link.connect(self.path)
        with self.lock:
            held = {session: pair for session, pair in self.leases.items() if not pair[1].over}
        living = {s: pair for s, pair in held.items() if pair[1].lock.acquire() and not pair[1].died}
        try:
            if living:
                self.send(living)
        finally:
            for _, lease in held.values():
                lease.lock.release()

    def send(self, living):
        self.number += 1
        sessions = [{"session_id": s, "generation": g} for s, (g, _) in living.items()]
        line = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": "session.heartbeat",
                           "params": {"sessions": sessions}}).encode() + b"\n"
        now = wall()
        self.link.sendall(line)
        # Only what was written whole is in the daemon's hands.
        self.waiting[self.number] = now
        if self.accepted:           # or it may lie in a backlog that nobody looks at
            for _, lease in living.values():
                lease.sent.append(now)

    def hear(self, seconds):
        deadline = wall() + seconds * 1000
        while (left := deadline - wall()) > 0 and not self.closed.is_set():
            if not select.select([self.link], [], [], left / 1000)[0]:
                return
            more = os.read(self.link.fileno(), 1 << 16)
            if not more:
                raise ConnectionResetError
            self.buffer += more
            while b"\n" in self.buffer:
                line, self.buffer = self.buffer.split(b"\n", 1)
                self.take(json.loads(line))

    def take(self, answer):
        self.accepted = True
        sent = self.waiting.pop(answer.get("id"), None)
        result = answer.get("result")
        if sent is None or not result:
            return
        self.slowest = max(self.slowest, wall() - sent)
        with self.lock:
            for session in result.get("renewed", []):
                if session in self.leases:
                    self.leases[session][1].acknowledged = sent
            for session in result.get("ended", []) + result.get("fenced", []):
                if session in self.leases:
                    self.leases[session][1].over = True
