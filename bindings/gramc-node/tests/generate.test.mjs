// Generated code with the package: an implementation as an MCP server, and a client of it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { loads, ToolLibrary } from "gramc";
import { serve } from "gramc/mcp";
import ts from "typescript";

const program = fileURLToPath(new URL("../bin/gramc.js", import.meta.url));

const SHOP = `
[findOrder:Tool {description: "Finds an order"} |
  (id::Text {length: 1..9})==>(withItems::Bool {default: false})==>(::Order)
]
[Order::Record | (id::Text), (items?::Text[]), (price::Number)]
`;

test("a client calls an implementation over MCP", async () => {
  const folder = mkdtempSync(join(tmpdir(), "gramc-"));
  writeFileSync(join(folder, "shop.gram"), SHOP);
  const options = ["generate", "typescript", "shop.gram", "-o", "."];
  const { status, stderr } = spawnSync(process.execPath, [program, ...options], { cwd: folder, encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const source = readFileSync(join(folder, "shop.ts"), "utf8");
  const { outputText } = ts.transpileModule(source, { compilerOptions: { target: "es2022", module: "esnext" } });
  writeFileSync(join(folder, "shop.mjs"), outputText);
  const shop = await import(pathToFileURL(join(folder, "shop.mjs")).href);
  rmSync(folder, { recursive: true });

  const library = new ToolLibrary("shop");
  const tools = {
    findOrder: async ({ id, withItems }) => ({ id, price: 2, ...(withItems ? { items: ["a"] } : {}) }),
  };
  for (const [name, handler] of Object.entries(shop.handlers(tools))) library.tool(name, handler);
  const server = new Server({ name: "shop", version: "1" }, { capabilities: { tools: {} } });
  serve(server, loads(SHOP).bind(library));
  const connection = new Client({ name: "test", version: "1" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), connection.connect(ours)]);

  const client = shop.client(async (name, parameters) => {
    const result = await connection.callTool({ name, arguments: parameters });
    if (result.isError) throw new Error(result.content[0].text);
    return result.structuredContent;
  });
  assert.deepEqual(await client.findOrder({ id: "7", withItems: true }), { id: "7", price: 2, items: ["a"] });
  assert.deepEqual(await client.findOrder({ id: "7" }), { id: "7", price: 2 });
  await assert.rejects(client.findOrder({ id: "0123456789" }), /must be a string of 1 to 9 characters/);
  await connection.close();
});
