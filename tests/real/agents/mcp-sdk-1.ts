// A server of the MCP SDK 1 with several clients: structured results, images, progress, and tools that come later.

import assert from "node:assert/strict";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { guard } from "gramc";
import { z } from "zod";

/** The server of a client. */
function create(user: string): McpServer {
  const server = new McpServer({ name: "photos", version: "1.0.0" });
  server.registerTool(
    "resize",
    {
      description: "Resizes a photo",
      inputSchema: { photo: z.string(), width: z.number().int().min(1).max(4096), tags: z.array(z.string()).default([]) },
      outputSchema: { photo: z.string(), width: z.number(), user: z.string(), tags: z.array(z.string()) },
    },
    async ({ photo, width, tags }, { signal, sendNotification, _meta }) => {
      assert(signal instanceof AbortSignal);
      const progressToken = _meta?.progressToken;
      if (progressToken !== undefined) {
        await sendNotification({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } });
      }
      const structuredContent = { photo, width, user, tags };
      return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
    },
  );
  server.registerTool("show", { inputSchema: { photo: z.string() } }, async ({ photo }) => {
    if (photo === "none") throw new Error("there is no photo");
    return { content: [{ type: "image", data: "aGk=", mimeType: "image/png" }] };
  });
  return guard(server);
}

async function connect(user: string) {
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: user, version: "1.0.0" });
  const server = create(user);
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  return { client, server };
}

type Result = { content: { type: string; text: string }[]; structuredContent?: object; isError?: boolean };
const call = async (client: Client, name: string, given: Record<string, unknown>) => {
  return (await client.callTool({ name, arguments: given })) as Result;
};

const { client, server } = await connect("ada");
const { tools } = await client.listTools();
assert.deepEqual(tools.map(({ name }) => name), ["resize", "show"]);
assert.deepEqual((tools[0]!.inputSchema.properties as any).width, { type: "integer", minimum: 1, maximum: 4096 });

const steps: number[] = [];
const onprogress = ({ progress }: { progress: number }) => void steps.push(progress);
const resized = await client.callTool({ name: "resize", arguments: { photo: "a", width: 9 } }, undefined, { onprogress });
assert.deepEqual(resized.structuredContent, { photo: "a", width: 9, user: "ada", tags: [] });
assert.deepEqual(steps, [1]);
assert.deepEqual((await call(client, "show", { photo: "a" })).content, [{ type: "image", data: "aGk=", mimeType: "image/png" }]);
const failed = await call(client, "show", { photo: "none" });
assert.deepEqual(failed, { content: [{ type: "text", text: "there is no photo" }], isError: true });
assert.equal((await call(client, "resize", { photo: "a", width: 9000 })).isError, true);

server.registerTool("count", { inputSchema: { album: z.string() } }, async ({ album }) => {
  return { content: [{ type: "text", text: `${album}: 3` }] };
});
assert.equal((await call(client, "count", { album: "b" })).content[0]!.text, "b: 3");

// The wrong calls of one client do not affect the others.
const others = await Promise.all(["b", "c", "d"].map(connect));
for (const { client } of others) await call(client, "resize", { photo: 1 });
const widths = others.map(async ({ client }, at) => (await call(client, "resize", { photo: "x", width: at + 1 })).structuredContent);
assert.deepEqual(await Promise.all(widths), ["b", "c", "d"].map((user, at) => ({ photo: "x", width: at + 1, user, tags: [] })));

const malformed = await call(client, "resize", { photo: "a", width: "640", tags: '["x"]' });
if (!malformed.isError) assert.deepEqual(malformed.structuredContent, { photo: "a", width: 640, user: "ada", tags: ["x"] });
console.log(`malformed call: ${malformed.isError ? "failed" : "succeeded"}`);
