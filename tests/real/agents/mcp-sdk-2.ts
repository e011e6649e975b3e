// A server of the MCP SDK 2 over HTTP: each request has a server of its own, in both eras of the protocol.

import assert from "node:assert/strict";

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { guard } from "gramc";
import { z } from "zod";

const handler = createMcpHandler(({ authInfo }) => {
  const user = authInfo?.clientId ?? "nobody";
  const server = new McpServer({ name: "notes", version: "1.0.0" });
  server.registerTool(
    "add_note",
    {
      description: "Adds a note",
      inputSchema: z.object({ text: z.string().min(1), priority: z.int().min(1).max(5), due: z.iso.date().optional() }),
      outputSchema: z.object({ user: z.string(), text: z.string(), priority: z.number() }),
    },
    async ({ text, priority }, { mcpReq }) => {
      assert(mcpReq.signal instanceof AbortSignal);
      const structuredContent = { user, text, priority };
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  return guard(server);
});

async function connect(user: string, mode: "legacy" | { pin: "2026-07-28" }) {
  const client = new Client({ name: user, version: "1.0.0" }, { versionNegotiation: { mode } });
  const authInfo = { token: "t", clientId: user, scopes: [] };
  const transport = new StreamableHTTPClientTransport(new URL("http://localhost/mcp"), {
    fetch: async (url, init) => handler.fetch(new Request(url, init), { authInfo }),
  });
  await client.connect(transport);
  return client;
}

const outcomes = new Set<string>();
for (const mode of ["legacy", { pin: "2026-07-28" }] as const) {
  const client = await connect("ada", mode);
  const { tools } = await client.listTools();
  assert.deepEqual(tools[0]!.inputSchema.required, ["text", "priority"]);
  const add = (given: Record<string, unknown>, to = client) => to.callTool({ name: "add_note", arguments: given });

  const added = await add({ text: "milk", priority: 2 });
  assert.deepEqual(added.structuredContent, { user: "ada", text: "milk", priority: 2 });
  const refused = await add({ text: "milk", priority: 9 });
  assert.equal(refused.isError, true);
  const users = ["b", "c", "d", "e"];
  const notes = users.map(async (user, at) => {
    const own = await connect(user, mode);
    for (let wrong = 0; wrong < 4; wrong += 1) await add({ priority: "none" }, own);
    return (await add({ text: user, priority: at + 1 }, own)).structuredContent;
  });
  assert.deepEqual(await Promise.all(notes), users.map((user, at) => ({ user, text: user, priority: at + 1 })));

  const malformed = await add({ text: "milk", priority: "3" });
  if (!malformed.isError) assert.deepEqual(malformed.structuredContent, { user: "ada", text: "milk", priority: 3 });
  outcomes.add(malformed.isError ? "failed" : "succeeded");
  await client.close();
}
await handler.close();
assert.equal(outcomes.size, 1);
console.log(`malformed call: ${[...outcomes][0]}`);
