// Runs Claude Code against a model that is played here, on loopback, and calls a tool of `knell mcp` through it.  No
// credentials, no network.  Says on standard output, one JSON line each, which tools the agent offered, what the tool
// answered and how the agent ended.
//
//   node agent.mjs CLAUDE KNELL HOME TOOL ARGUMENTS

import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { once } from "node:events";

const [claude, knell, home, tool, args] = process.argv.slice(2);
const name = `mcp__knell__${tool}`;

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

function text(response, model, words) {
    stream(response, model, { type: "text", text: "" }, [{ type: "text_delta", text: words }], "end_turn");
}

function tool_results(request) {
    return request.messages
        .flatMap((message) => (Array.isArray(message.content) ? message.content : []))
        .filter((part) => part.type === "tool_result");
}

let told = false;
function answer(request, response) {
    const offered = (request.tools ?? []).map((each) => each.name).filter((each) => each.startsWith("mcp__knell__"));
    const results = tool_results(request);
    if (results.length > 0) {
        const content = results.at(-1).content;
        const said = Array.isArray(content) ? content.map((part) => part.text).join("") : content;
        if (!told) say({ result: said, failed: results.at(-1).is_error === true });
        told = true;
        return text(response, request.model, "done");
    }
    // The agent asks for other things, too, such as a title: those come without our tools.
    if (!offered.includes(name)) return text(response, request.model, "hello");
    say({ offered: offered.sort() });
    const block = { type: "tool_use", id: "toolu_1", name, input: {} };
    stream(response, request.model, block, [{ type: "input_json_delta", partial_json: args }], "tool_use");
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

const config = { mcpServers: { knell: { command: knell, args: ["mcp"] } } };
const agent = spawn(
    claude,
    ["-p", "what is running?", "--mcp-config", JSON.stringify(config), "--strict-mcp-config", "--allowedTools", name],
    {
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
    },
);
let said = "";
agent.stdout.on("data", (piece) => (said += piece));
const [status] = await once(agent, "close");
say({ said: said.trim(), status });
server.close();
server.closeAllConnections();
