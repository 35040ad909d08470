"""A WebSocket client as anybody might write one, with Debian's python3-websockets: comes, works, is cut off,
comes back.  Says what it saw on standard output, one JSON line each; websocket.mjs does the same.

    websocket.py URL TOKEN SESSION
"""

import asyncio
import json
import sys

import websockets

url, token, session = sys.argv[1:]


def say(**what):
    print(json.dumps(what, separators=(",", ":")), flush=True)


def connect(bearer):
    return websockets.connect(url, extra_headers={"Authorization": f"Bearer {bearer}"}, max_size=8 << 20)


class Client:
    def __init__(self, socket):
        self.socket = socket
        self.last_id = 0
        self.events = []

    async def read(self):
        """The next answer, or nothing for an event, which is kept."""
        message = json.loads(await self.socket.recv())
        if "id" in message:
            return message
        self.events.append(message["params"])
        return None

    def text(self, method, params):
        self.last_id += 1
        return json.dumps({"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params})

    async def answer(self):
        while True:
            message = await self.read()
            if message:
                if "error" in message:
                    raise RuntimeError(message["error"]["message"])
                return message["result"]

    async def call(self, method, **params):
        await self.socket.send(self.text(method, params))
        return await self.answer()

    async def heard(self, kind):
        while not any(event["type"] == kind for event in self.events):
            await self.read()
        return [event["type"] for event in self.events]


async def main():
    try:
        await connect("wrong")
    except websockets.InvalidStatusCode as refusal:
        say(refused=refusal.status_code)

    client = Client(await connect(token))
    await client.call("session.create", id=session, source="web")
    attached = await client.call("session.attach", session_id=session)
    say(attached=attached["attached"])

    content = "ä" * 150_000  # Python writes each as \u00e4
    message = {"role": "user", "content": content}
    await client.call("session.append", session_id=session, generation=1, messages=[message])
    shown = await client.call("session.show", session_id=session, messages=1)
    say(long_message_is_the_same=shown["messages"][0]["content"] == content)

    for _ in range(500):
        await client.socket.send(client.text("session.show", {"session_id": session}))
    say(answered=len([await client.answer() for _ in range(500)]))

    text = client.text("session.show", {"session_id": session})
    await client.socket.send([text[:10], text[10:11], text[11:]])
    await client.answer()
    say(fragments="read")

    await (await client.socket.ping("there?"))
    say(pong="there?")

    await client.call("turn.start", session_id=session, generation=1)
    say(heard=await client.heard("agent:start"))
    client.socket.transport.abort()

    back = Client(await connect(token))
    await back.call("session.attach", session_id=session, after=attached["after"])
    await back.call("turn.end", session_id=session, generation=1)
    say(heard=await back.heard("agent:end"))
    await back.socket.close(1000)
    say(closed=back.socket.close_code)


asyncio.run(main())
