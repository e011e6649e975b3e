// Tools in code for the Claude Agent SDK, which calls them over MCP in its process.

import assert from "node:assert/strict";

import { createSdkMcpServer, tool } from "@anthropic-ai/claude-agent-sdk";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { guard } from "gramc";
import { z } from "zod";

const tools = createSdkMcpServer({
  name: "calendar",
  version: "1.0.0",
  tools: [
    tool("add_event", "Adds an event", { title: z.string(), minutes: z.number().int().positive() }, async ({ title, minutes }) => {
      return { content: [{ type: "text", text: `${title}: ${minutes} min` }] };
    }),
  ],
});
const checked = guard(tools);

const client = new Client({ name: "claude", version: "1.0.0" });
const [ours, theirs] = InMemoryTransport.createLinkedPair();
await Promise.all([checked.instance.connect(theirs), client.connect(ours)]);
assert.equal(checked.type, "sdk");

type Result = { content: { text: string }[]; isError?: boolean };
const add = async (given: Record<string, unknown>) => {
  return (await client.callTool({ name: "add_event", arguments: given })) as Result;
};
assert.equal((await add({ title: "Tea", minutes: 5 })).content[0]!.text, "Tea: 5 min");
assert.equal((await add({ title: "Tea", minutes: -5 })).isError, true);
const malformed = await add({ title: "Tea", minutes: "15" });
if (!malformed.isError) assert.equal(malformed.content[0]!.text, "Tea: 15 min");
console.log(`malformed call: ${malformed.isError ? "failed" : "succeeded"}`);
