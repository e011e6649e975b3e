// Generated code with the package: an implementation as an MCP server, and a client of it.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
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

const place = (name) => fileURLToPath(new URL(name, import.meta.url));

const TYPED = `
[findOrder:Tool {description: "Finds an order"} |
  (id::Text {pattern: "^[A-Z]+[0-9]+$", description: "The number"})==>(limit::Int {range: 1..100, default: 20})
  ==>(since?::Date)==>(tags::Text[] {default: ["x"]})==>(::Order)
]
[\`get-it\`:Tool | (status::"open"|"closed")==>(::Int)]
[Order::Record {description: "An order"} | (id::Text), (line::Line)]
[Line::Record | (sku::Text)]
`;

// The compiler finds each mistake: an expected error that does not occur is an error.
const MISTAKES = `
import { generateText, type LanguageModel } from "ai";
import { guard, load, ToolLibrary } from "gramc";
import { tools as toolSet } from "gramc/ai-sdk";
import { client, handlers, type Handlers, type Order, type Tools } from "./shop.js";

const order: Order = { id: "A1", line: { sku: "x" } };
const shop: Tools = {
  findOrder: async ({ id, limit, tags, since }) => {
    const found: [number, string, string | undefined] = [limit, tags[0]!.trim(), since?.trim()];
    // @ts-expect-error An optional parameter without a default can be missing.
    since.trim();
    // @ts-expect-error There is no such parameter.
    void { id, found }.id.nights;
    return order;
  },
  // @ts-expect-error The result is a number.
  getIt: async () => "1",
};
const wrong: Tools = {
  findOrder: async () => order,
  // @ts-expect-error The parameter is no number.
  getIt: async (parameters: { status: number }) => parameters.status,
};
// @ts-expect-error There is no such tool.
const more: Tools = { ...shop, other: async () => 1 };
// @ts-expect-error A tool is missing.
const partial: Tools = { findOrder: async () => order };
// @ts-expect-error A field of a result is missing.
const incomplete: Order = { id: "A1" };

const any = new ToolLibrary("shop");
for (const [name, handler] of Object.entries(handlers(shop))) any.tool(name, handler);
const library = new ToolLibrary<Handlers>("shop")
  .tool("findOrder", async ({ id, limit }, { signal, inject }) => {
    void [signal.aborted, inject.user, limit.toFixed()];
    return { ...order, id };
  })
  .tool("get-it", handlers(shop)["get-it"]);
// @ts-expect-error There is no tool of this name.
library.tool("findOrders", async () => order);
// @ts-expect-error There is no such argument.
library.tool("findOrder", async ({ nights }) => ({ ...order, id: nights }));
// @ts-expect-error The argument is a text.
library.tool("findOrder", async ({ id }: { id: number }) => ({ ...order, id: String(id) }));
// @ts-expect-error The result is another one.
library.tool("get-it", () => "one");
// @ts-expect-error There is no such setting.
library.tool("get-it", () => 1, { time: 3 });
// @ts-expect-error A library with other tools has no such name.
new ToolLibrary<{ ping: () => null }>("x").tool("findOrder", () => null);

const spec = load("shop.gram");
const session = spec.bind(library).session({ inject: { user: "Ada" } });
const tools = client(async (name, parameters) => (await session.call(name, parameters)).result);
await tools.findOrder({ id: "A1" });
// @ts-expect-error A parameter is missing.
await tools.findOrder({});
// @ts-expect-error It is no number.
await tools.findOrder({ id: "A1", limit: "7" });
// @ts-expect-error There is no such member.
await tools.getIt({ status: "lost" });
// @ts-expect-error There is no such method.
await tools["get-it"]({ status: "open" });
// @ts-expect-error The options of a call are no arguments.
await session.call("findOrder", {}, { id: 7 });
// @ts-expect-error A verdict is no result.
(await session.call("findOrder", { id: "A1" })).line;

export async function ask(model: LanguageModel): Promise<void> {
  const { toolCalls, toolResults } = await generateText({ model, prompt: "x", tools: guard(toolSet(session)) });
  for (const call of toolCalls) {
    if (call.dynamic || call.toolName !== "get-it") continue;
    const status: "open" | "closed" = call.input.status;
    // @ts-expect-error The input has no such field.
    void call.input[status].nights;
  }
  for (const result of toolResults) {
    if (result.dynamic) continue;
    if (result.toolName === "get-it") result.output.toFixed();
    // @ts-expect-error The set has no such tool.
    if (result.toolName === "getIt") continue;
    // @ts-expect-error An order is no number.
    if (result.toolName === "findOrder") result.output.toFixed();
  }
}
void [wrong, more, partial, incomplete];
`;

// Schemas keep the constraints of the specification, and are standard schemas.
const SCHEMAS = `
import assert from "node:assert/strict";
import { z } from "zod";
import { findOrderParametersSchema as schema, orderSchema } from "./shop.js";

assert.deepEqual(Object.keys(schema.shape), ["id", "limit", "since", "tags"]);
assert.equal(orderSchema.shape.line.shape.sku.type, "string");
const id: string = schema.parse({ id: "A1" }).id;
const limit: number = schema.parse({ id }).limit;
assert.deepEqual(schema.parse({ id }), { id: "A1", limit: 20, tags: ["x"] });
const given = await schema["~standard"].validate({ id: "a", limit, since: "soon" });
assert.deepEqual(given.issues?.map(({ path }) => path), [["id"], ["since"]]);
const { properties } = z.toJSONSchema(schema, { io: "input" }) as { properties: Record<string, object> };
assert.deepEqual(properties["id"], { type: "string", pattern: "^[A-Z]+[0-9]+$", description: "The number" });
assert.deepEqual(properties["limit"], { type: "integer", minimum: 1, maximum: 100, default: 20 });
assert.equal((properties["since"] as { format: string }).format, "date");
assert.deepEqual(properties["tags"], { type: "array", items: { type: "string" }, default: ["x"] });
assert.equal(z.toJSONSchema(orderSchema).description, "An order");
`;

test("the compiler finds mistakes in programs with generated types", () => {
  const folder = mkdtempSync(join(tmpdir(), "gramc-"));
  const run = (...options) => {
    return spawnSync(process.execPath, options, { cwd: folder, encoding: "utf8" });
  };
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync(place("../node_modules"))) {
    symlinkSync(place(`../node_modules/${name}`), join(folder, "node_modules", name));
  }
  symlinkSync(place(".."), join(folder, "node_modules/gramc"));
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  writeFileSync(join(folder, "shop.gram"), TYPED);
  for (const [name, text, options] of [["types", MISTAKES, []], ["schemas", SCHEMAS, ["--zod"]]]) {
    const output = join(folder, name);
    const { status, stderr } = run(program, "generate", "typescript", "shop.gram", "-o", output, ...options);
    assert.equal(status, 0, stderr);
    writeFileSync(join(output, "program.ts"), text);
    const compilerOptions = { strict: true, module: "nodenext", target: "es2022", skipLibCheck: true, types: ["node"] };
    writeFileSync(join(output, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["program.ts"] }));
    assert.equal(run("node_modules/typescript/bin/tsc", "-p", output).stdout, "");
  }
  assert.ok(MISTAKES.match(/@ts-expect-error/g).length >= 20);
  assert.equal(run("schemas/program.js").stderr, "");
  rmSync(folder, { recursive: true });
});
