"""JSON-RPC on knell's unix socket: one call at a time, with a deadline."""

import json
import socket
import time


class NoAnswer(Exception):
    """Whether the call was carried out is not known."""


class Unreachable(NoAnswer):
    """Nobody was there to take the call: it was not carried out."""


class Refused(Exception):
    """The daemon said no: it was not carried out."""

    def __init__(self, error):
        super().__init__(error.get("message", ""))
        self.code = error.get("code")
        self.kind = (error.get("data") or {}).get("kind", "")


class Client:
    def __init__(self, path, seconds=20):
        self.path = path
        self.seconds = seconds
        self.number = 0
        self.link = None
        self.buffer = b""

    def connect(self, seconds):
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.settimeout(seconds)
        try:
            link.connect(self.path)
        except OSError as error:
            link.close()
            raise Unreachable(str(error)) from error
        self.link = link
        self.buffer = b""

    def close(self):
        if self.link:
            self.link.close()
            self.link = None

    def call(self, method, params=None, seconds=None):
        deadline = time.monotonic() + (seconds or self.seconds)
        if self.link is None:
            self.connect(seconds or self.seconds)
        self.number += 1
        call = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}}
        try:
            self.link.settimeout(max(0.05, deadline - time.monotonic()))
            self.link.sendall(json.dumps(call).encode() + b"\n")
            answer = self.answer(deadline)
        except OSError as error:
            # The answer to this call must not be taken for that to the next.
            self.close()
            raise NoAnswer(f"{method}: {error}") from error
        if "error" in answer and answer.get("id") is None:
            # Said before any call was read: a flood has all the connections.
            self.close()
            raise Unreachable(answer["error"].get("message", ""))
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def answer(self, deadline):
        while b"\n" not in self.buffer:
            self.link.settimeout(max(0.05, deadline - time.monotonic()))
            more = self.link.recv(1 << 20)
            if not more:
                raise ConnectionResetError("the daemon closed the connection")
            self.buffer += more
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line)

    def pages(self, method, params, field, cursor):
        """All of a listing, page by page."""
        params = dict(params)
        while True:
            page = self.call(method, params)
            yield from page[field]
            following = page.get("next")
            if not following or following == params.get(cursor) or (cursor == "after" and not page[field]):
                return
            params[cursor] = following
