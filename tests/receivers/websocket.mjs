// A WebSocket client as anybody might write one, with the package `ws`: comes, works, is cut off,
// comes back.  Says what it saw on standard output, one JSON line each; websocket.py does the same.
//
//   node websocket.mjs URL TOKEN SESSION

import { once } from "node:events";
import WebSocket from "ws";

const [url, token, session] = process.argv.slice(2);

function say(object) {
    process.stdout.write(JSON.stringify(object) + "\n");
}

function open(bearer) {
    return new WebSocket(url, { headers: { Authorization: `Bearer ${bearer}` } });
}

class Client {
    static async connect() {
        const client = new Client();
        client.socket = open(token);
        client.answers = new Map();
        client.events = [];
        client.socket.on("message", (data) => client.take(JSON.parse(data)));
        await once(client.socket, "open");
        return client;
    }

    take(message) {
        if (message.id === undefined) this.events.push(message.params);
        else this.answers.get(message.id)(message);
    }

    call(method, params, send = (text) => this.socket.send(text)) {
        const id = this.answers.size + 1;
        const answer = new Promise((resolve) => this.answers.set(id, resolve));
        send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
        return answer.then((message) => {
            if (message.error) throw new Error(message.error.message);
            return message.result;
        });
    }

    async heard(type) {
        while (!this.events.some((event) => event.type === type)) await once(this.socket, "message");
        return this.events.map((event) => event.type);
    }
}

const refused = open("wrong");
refused.on("error", () => {}); // it is told by the response
const [, response] = await once(refused, "unexpected-response");
say({ refused: response.statusCode });
refused.terminate();

const client = await Client.connect();
await client.call("session.create", { id: session, source: "web" });
const { attached, after } = await client.call("session.attach", { session_id: session });
say({ attached });

const content = "ä".repeat(450_000);
const message = { role: "user", content };
await client.call("session.append", { session_id: session, generation: 1, messages: [message] });
const shown = await client.call("session.show", { session_id: session, messages: 1 });
say({ long_message_is_the_same: shown.messages[0].content === content });

const calls = [];
for (let i = 0; i < 500; i++) calls.push(client.call("session.show", { session_id: session }));
say({ answered: (await Promise.all(calls)).length });

await client.call("session.show", { session_id: session }, (text) => {
    client.socket.send(text.slice(0, 10), { fin: false });
    client.socket.send(text.slice(10, 11), { fin: false });
    client.socket.send(text.slice(11), { fin: true });
});
say({ fragments: "read" });

client.socket.ping("there?");
const [pong] = await once(client.socket, "pong");
say({ pong: pong.toString() });

await client.call("turn.start", { session_id: session, generation: 1 });
say({ heard: await client.heard("agent:start") });
client.socket.terminate();

const back = await Client.connect();
await back.call("session.attach", { session_id: session, after });
await back.call("turn.end", { session_id: session, generation: 1 });
say({ heard: await back.heard("agent:end") });
back.socket.close(1000);
const [code] = await once(back.socket, "close");
say({ closed: code });
