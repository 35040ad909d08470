// A webhook receiver as anybody might write one: it checks each request with the packages that a
// receiver would use, and says on standard output, one JSON line each, what it thinks of it.
//
//   node receiver.mjs SECRET MODE
//
// SECRET is whsec_…; MODE is what it answers to a request that is in order:
//
//   ok       204
//   fail=N   500 to the first N, then 204
//   gone     410
//   busy     429 with Retry-After: 1
//   hang     nothing, ever
//
// A request that is not in order gets 400.  The first line is {"port":N}.

import { createServer } from "node:http";
import { once } from "node:events";
import { HTTP } from "cloudevents";
import { Webhook } from "standardwebhooks";

const [secret, mode = "ok"] = process.argv.slice(2);
const webhook = new Webhook(secret);
let failuresLeft = mode.startsWith("fail=") ? Number(mode.slice("fail=".length)) : 0;

function say(object) {
    process.stdout.write(JSON.stringify(object) + "\n");
}

async function bodyOf(request) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    return Buffer.concat(chunks).toString("utf8");
}

// Throws when the signature or the event is not in order.
function read(headers, body) {
    webhook.verify(body, headers);
    const event = HTTP.toEvent({ headers, body });
    event.validate();
    const { id, source, type, subject, time, sequence, data } = event;
    return { ok: true, id, source, type, subject, time, sequence, data };
}

function answer(response) {
    if (mode === "hang") return;
    if (failuresLeft > 0) {
        failuresLeft -= 1;
        response.writeHead(500).end("not today");
    } else if (mode === "gone") {
        response.writeHead(410).end();
    } else if (mode === "busy") {
        response.writeHead(429, { "Retry-After": "1" }).end();
    } else {
        response.writeHead(204).end();
    }
}

const server = createServer(async (request, response) => {
    const body = await bodyOf(request);
    try {
        say(read(request.headers, body));
    } catch (error) {
        say({ ok: false, error: error.message, id: request.headers["webhook-id"] });
        response.writeHead(400).end(error.message);
        return;
    }
    answer(response);
});

// Whoever started it holds the other end: when that goes, so does this.
process.stdin.on("end", () => process.exit(0)).resume();

server.listen(0, "127.0.0.1");
await once(server, "listening");
say({ port: server.address().port });
