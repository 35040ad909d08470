"""A storm of writes: many connections, each with as many appends in flight as it may have."""

import json
import os
import selectors
import socket
import threading

in_flight = 250
room_left = 32 << 20


class Stream:
    """One connection that appends to one session of its own."""

    def __init__(self, path, session, generation, counts):
        self.counts = counts        # [acknowledged, tried] of the ledger
        self.link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.link.settimeout(2)
        self.link.connect(path)
        self.link.setblocking(False)
        message = {"role": "user", "content": "x" * 40}
        self.line = json.dumps({
            "jsonrpc": "2.0", "id": 1, "method": "session.append",
            "params": {"session_id": session, "generation": generation, "messages": [message]},
        }).encode() + b"\n"
        self.unsent = b""
        self.unanswered = 0
        self.tail = b""

    def push(self, more):
        if more and self.unanswered < in_flight // 2:
            count = in_flight - self.unanswered
            self.counts[1] += count
            self.unanswered += count
            self.unsent += self.line * count
        if self.unsent:
            try:
                self.unsent = self.unsent[self.link.send(self.unsent):]
            except BlockingIOError:
                pass

    def pull(self):
        got = self.link.recv(1 << 18)
        if not got:
            raise ConnectionResetError
        lines = (self.tail + got).split(b"\n")
        self.tail = lines.pop()
        self.unanswered -= len(lines)
        self.counts[0] += sum(b'"result"' in line for line in lines)


class Flood(threading.Thread):
    def __init__(self, path, targets, ledger):
        super().__init__(daemon=True)
        self.home = os.path.dirname(path)
        self.over = threading.Event()
        self.streams = []
        for session, generation in targets:
            counts = ledger.messages.setdefault(session, [0, 0])
            try:
                self.streams.append(Stream(path, session, generation, counts))
            except OSError:
                break               # the daemon has no descriptors left, or is gone
        self.start()

    def run(self):
        with selectors.DefaultSelector() as selector:
            for stream in self.streams:
                selector.register(stream.link, selectors.EVENT_READ, stream)
            while self.streams and not self.over.is_set():
                room = self.has_room()
                for stream in list(self.streams):
                    self.step(selector, stream, lambda s: s.push(room))
                for key, _ in selector.select(0.05):
                    self.step(selector, key.data, Stream.pull)
        for stream in self.streams:
            stream.link.close()

    def has_room(self):
        """A small disk is filled by a fault, which is over some time, and not by us."""
        disk = os.statvfs(self.home)
        return disk.f_bavail * disk.f_bsize > room_left

    def step(self, selector, stream, act):
        try:
            act(stream)
        except OSError:
            selector.unregister(stream.link)
            stream.link.close()
            self.streams.remove(stream)

    def stop(self):
        self.over.set()
        self.join(20)
