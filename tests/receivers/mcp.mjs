// Talks to `knell mcp` with the official clients of the Model Context Protocol: `sdk` (up to 2025-11-25) or
// `client`, which names its version in each call (2026-07-28).  Says what it saw on standard output, one JSON line
// each; whatever the server wrote that is no message of the protocol is a line with `stray`.
//
//   node mcp.mjs sdk|client KNELL SESSION

const [which, knell, session] = process.argv.slice(2);

function say(object) {
    process.stdout.write(JSON.stringify(object) + "\n");
}

async function connect() {
    const name = { name: "knell-test", version: "1" };
    const command = { command: knell, args: ["mcp"], env: process.env, stderr: "inherit" };
    if (which === "client") {
        const { Client } = await import("@modelcontextprotocol/client");
        const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
        const client = new Client(name, { versionNegotiation: { mode: { pin: "2026-07-28" } } });
        return [client, new StdioClientTransport(command)];
    }
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    return [new Client(name), new StdioClientTransport(command)];
}

const [client, transport] = await connect();
client.onerror = (error) => say({ stray: String(error) });
await client.connect(transport);
say({ server: client.getServerVersion()?.name, instructions: client.getInstructions()?.length > 0 });

const { tools } = await client.listTools();
say({ tools: tools.map((tool) => tool.name) });

async function call(name, args) {
    const result = await client.callTool({ name, arguments: args });
    return { ...result.structuredContent, text: result.content.map((part) => part.text), failed: result.isError === true };
}

const empty = await call("process_list", { session_id: session });
say({ listed: empty.processes?.length, failed: empty.failed });

const started = await call("process_start", { session_id: session, argv: ["sh", "-c", "echo hello; exec sleep 600"], title: "nap" });
say({ started: /^p-/.test(started.process_id), failed: started.failed });

let output = await call("process_output", { process_id: started.process_id, after: 0 });
while (!output.failed && output.output === "") {
    output = await call("process_output", { process_id: started.process_id, after: 0 });
}
say({ output: output.output, next: output.next });

const status = await call("session_status", { session_id: session });
say({ session: status.session?.id, runs: status.processes?.map((process) => process.title) });

const vouched = await call("process_vouch", { process_id: started.process_id, until: "2h" });
say({ vouched: vouched.counts, until: vouched.vouched_until !== undefined });

const stopped = await call("process_stop", { process_id: started.process_id });
say({ stopped: stopped.state, by: stopped.exit?.signal, failed: stopped.failed });

const refused = await call("process_stop", { process_id: "p-0000000000000" });
say({ refused: refused.error?.data?.kind, failed: refused.failed });

const wrong = await call("process_start", { session_id: session, argv: "rm -rf /" });
say({ wrong: wrong.text, failed: wrong.failed });

try {
    await client.callTool({ name: "no_such_tool", arguments: {} });
} catch (error) {
    say({ unknown_tool: error.code });
}
await client.close();
say({ closed: true });
