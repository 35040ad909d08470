// Runs Claude Code, with the settings that are given, against a model that is played here, on loopback: it wants a command
// that fails, over and over.  No credentials, no network.  Says on standard output, one JSON line each, what the model was
// sent beside the results of its calls, and how the agent ended.
//
//   node stuck_agent.mjs CLAUDE HOME SETTINGS TIMES

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";

const [claude, home, settings, times] = process.argv.slice(2);

function say(object) {
    process.stdout.write(JSON.stringify(object) + "\n");
}

/// The events of one message of the model, as the API streams them.
function stream(response, model, block, deltas, stop) {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage };
    const events = [
        { type: "message_start", message },
        { type: "content_block_start", index: 0, content_block: block },
        ...deltas.map((delta) => ({ type: "content_block_delta", index: 0, delta })),
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: stop, stop_sequence: null }, usage },
        { type: "message_stop" },
    ];
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events) response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    response.end();
}

/// Every text of a message, wherever it stands.
function texts(part) {
    if (typeof part === "string") return [part];
    if (Array.isArray(part)) return part.flatMap(texts);
    return part === null || typeof part !== "object" ? [] : Object.values(part).flatMap(texts);
}

const heard = new Set();
function answer(request, response) {
    const offered = (request.tools ?? []).map((each) => each.name);
    // The agent asks for other things, too, such as a title: those come without its tools.
    if (!offered.includes("Bash")) {
        return stream(response, request.model, { type: "text", text: "" }, [{ type: "text_delta", text: "hello" }], "end_turn");
    }
    for (const text of request.messages.flatMap((message) => texts(message.content))) {
        if (/in a row have failed|circuit breaker/.test(text) && !heard.has(text)) {
            heard.add(text);
            say({ heard: text });
        }
    }
    const results = request.messages
        .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
        .filter((part) => part.type === "tool_result").length;
    if (results >= Number(times)) {
        return stream(response, request.model, { type: "text", text: "" }, [{ type: "text_delta", text: "I give up" }], "end_turn");
    }
    // Each time with another argument: only that it fails is the same.
    const call = { command: `cat /nowhere/${results}`, description: "look" };
    const block = { type: "tool_use", id: `toolu_${results}`, name: "Bash", input: {} };
    stream(response, request.model, block, [{ type: "input_json_delta", partial_json: JSON.stringify(call) }], "tool_use");
}

const server = createServer(async (request, response) => {
    let body = "";
    for await (const piece of request) body += piece;
    const is_message = request.method === "POST" && /^\/v1\/messages(\?|$)/.test(request.url);
    if (is_message) return answer(JSON.parse(body), response);
    response.writeHead(request.url.includes("count_tokens") ? 200 : 404, { "content-type": "application/json" });
    response.end(JSON.stringify({ input_tokens: 1 }));
});
server.listen(0, "127.0.0.1");
await once(server, "listening");

mkdirSync(`${home}/.claude`, { recursive: true });
writeFileSync(`${home}/.claude/settings.json`, settings);
const agent = spawn(claude, ["-p", "what is in there?", "--allowedTools", "Bash"], {
    cwd: home,
    stdio: ["ignore", "pipe", "inherit"],
    env: {
        ...process.env,
        HOME: home,
        ANTHROPIC_BASE_URL: `http://127.0.0.1:${server.address().port}`,
        ANTHROPIC_API_KEY: "dummy",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
        ENABLE_TOOL_SEARCH: "false",
    },
});
let said = "";
agent.stdout.on("data", (piece) => (said += piece));
const [status] = await once(agent, "close");
say({ said: said.trim(), status });
server.close();
server.closeAllConnections();
