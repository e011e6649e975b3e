// `guard` in front of the tools of frameworks. tests/real/agents has whole agents.

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { test } from "node:test";

import { RunContext, tool as agentTool, webSearchTool } from "@openai/agents";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { asSchema, generateText, jsonSchema, stepCountIs, tool as aiTool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { CallRefused, guard, tool } from "gramc";
import { repairToolCall } from "gramc/ai-sdk";
import { z } from "zod";

const inputSchema = z.object({ guests: z.array(z.string()), nights: z.int().min(1).max(30) });
const MALFORMED = { guests: '["Ada"]', nights: "3" };
const CHECKED = { guests: ["Ada"], nights: 3 };
const WRONG = { guests: ["Ada"], nights: 90 };
const CORRECTION = "`reserve`: `nights` must be an integer from 1 to 30, got 90. Correct this and call `reserve` again.";

/** The outcomes of calls of tools, each in a reply of its own. */
async function generate(tools, inputs, options) {
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
  const calls = inputs.map((input, at) => ({
    content: [{ type: "tool-call", toolCallId: `c${at}`, toolName: "reserve", input }],
    finishReason: { unified: "tool-calls" },
  }));
  const end = { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop" } };
  const doGenerate = [...calls, end].map((reply) => ({ ...reply, usage, warnings: [] }));
  const model = new MockLanguageModelV3({ doGenerate });
  await generateText({ model, prompt: "Reserve", tools, stopWhen: stepCountIs(9), ...options });
  const results = model.doGenerateCalls.at(-1).prompt.filter(({ role }) => role === "tool");
  return { definitions: model.doGenerateCalls[0].tools, outputs: results.map(({ content }) => content[0].output) };
}

test("a tool set of the AI SDK", async () => {
  const seen = [];
  const reserve = aiTool({ description: "Reserves a room", inputSchema, execute: (input) => seen.push(input) });
  const verdicts = [];
  const guarded = guard({ reserve }, { onVerdict: (verdict) => verdicts.push(verdict) });
  assert.equal(guarded.reserve.execute, reserve.execute);
  const given = [MALFORMED, WRONG].map((input) => JSON.stringify(input));
  const { definitions, outputs } = await generate(guarded, given);
  assert.deepEqual(definitions, (await generate({ reserve }, given)).definitions);
  assert.deepEqual(seen, [CHECKED]);
  assert.deepEqual(outputs[1], { type: "error-text", value: `Invalid input for tool reserve: ${CORRECTION}` });
  assert.deepEqual(verdicts.map(({ ok }) => ok), [true, false]);
  assert.deepEqual(verdicts[0].repairs.map(({ rule }) => rule), ["json-text", "text-to-integer"]);

  // Invalid JSON never reaches a tool, unless the SDK is asked to repair it.
  const [broken] = (await generate(guarded, ['{"guests": ["Ada"], "nights": 3,}'])).outputs;
  assert.match(broken.value, /JSON parsing failed/);
  const options = { experimental_repairToolCall: repairToolCall };
  await generate(guarded, ['{"guests": ["Ada"], "nights": 3,}'], options);
  assert.deepEqual(seen, [CHECKED, CHECKED]);
});

test("schemas of all kinds, and tools of the provider", async () => {
  const json = { type: "object", properties: { nights: { type: "integer" } }, required: ["nights"] };
  const provider = { type: "provider", id: "x.search", args: {}, isProviderExecuted: true };
  const guarded = guard({
    plain: aiTool({ inputSchema: jsonSchema(json) }),
    later: aiTool({ inputSchema: jsonSchema(async () => json) }),
    lazy: aiTool({ inputSchema: () => jsonSchema(json) }),
    dated: aiTool({ inputSchema: z.object({ day: z.iso.date().transform((day) => new Date(day)) }) }),
    provider,
  });
  assert.equal(guarded.provider, provider);
  for (const name of ["plain", "later", "lazy"]) {
    const schema = asSchema(guarded[name].inputSchema);
    assert.equal(await schema.jsonSchema, json);
    assert.deepEqual(await schema.validate({ nights: "3" }), { success: true, value: { nights: 3 } });
  }
  const { value } = await asSchema(guarded.dated.inputSchema).validate({ day: "2026-12-01" });
  assert.equal(value.day.getUTCDate(), 1);
  const refused = await asSchema(guarded.dated.inputSchema).validate({ day: "tomorrow" });
  assert.equal(refused.error.name, "AI_TypeValidationError");
});

test("a call that a framework alone accepts is never refused", async () => {
  const split = z.preprocess((value) => (typeof value === "string" ? value.split(",") : value), z.array(z.string()));
  const lenient = z.object({ guests: split, nights: z.int().catch(1) });
  const given = { guests: "Ada,Grace", nights: "many" };
  const expected = { guests: ["Ada", "Grace"], nights: 1 };
  const verdicts = [];
  const options = { onVerdict: (verdict) => verdicts.push(verdict) };
  const guarded = guard({ reserve: aiTool({ inputSchema: lenient }) }, options);
  assert.deepEqual((await asSchema(guarded.reserve.inputSchema).validate(given)).value, expected);

  const seen = [];
  const server = guard(new McpServer({ name: "hotel", version: "1" }), options);
  server.registerTool("reserve", { inputSchema: lenient.shape }, (input) => {
    seen.push(input);
    return { content: [], isError: true };
  });
  const client = await connect(server);
  await client.callTool({ name: "reserve", arguments: given });
  assert.deepEqual(seen, [expected]);
  assert.deepEqual(verdicts, []);
  const { content } = await client.callTool({ name: "reserve", arguments: { nights: 1 } });
  assert.match(content[0].text, /^`reserve`: `guests` is required/);
  assert.deepEqual(verdicts.map(({ ok }) => ok), [false]);
});

test("a tool that gramc cannot express is passed on with a warning", async () => {
  const warned = new Promise((done) => process.once("warning", done));
  const inputSchema = jsonSchema({ type: "object", properties: { x: { $ref: "https://example.com/x" } } });
  const guarded = guard({ strange: aiTool({ inputSchema, execute: () => 1 }) });
  assert.deepEqual(await asSchema(guarded.strange.inputSchema).validate({ x: 1 }), { success: true, value: { x: 1 } });
  const { name, message } = await warned;
  assert.equal(name, "GramcWarning");
  assert.match(message, /^the calls of `strange` are not checked: /);
});

test("tools of the OpenAI Agents SDK", async () => {
  const seen = [];
  const failing = new Error("no room");
  const plain = agentTool({
    name: "reserve",
    description: "Reserves a room",
    parameters: inputSchema,
    needsApproval: async (_context, input) => seen.push(input) > 99,
    errorFunction: null,
    execute: (input, context) => {
      if (context.context.fails) throw failing;
      return { image: new Uint8Array(2), input, context };
    },
  });
  const hosted = webSearchTool();
  const [reserve, search] = guard([plain, hosted]);
  assert.equal(search, hosted);
  const { invoke: _, needsApproval: __, ...rest } = plain;
  for (const [name, value] of Object.entries(rest)) assert.equal(reserve[name], value);

  const context = new RunContext({ fails: false });
  const result = await reserve.invoke(context, JSON.stringify(MALFORMED));
  assert.deepEqual([result.input, result.context, result.image.length], [CHECKED, context, 2]);
  assert.equal(await reserve.needsApproval(context, MALFORMED, "c"), false);
  assert.deepEqual(seen, [CHECKED]);
  assert.equal(await reserve.needsApproval(context, WRONG, "c"), false);
  await assert.rejects(reserve.invoke(new RunContext({ fails: true }), JSON.stringify(CHECKED)), failing);

  // The attempts of each run are counted, those of one reply once.
  const attempt = (context) => reserve.invoke(context, JSON.stringify(WRONG));
  const [first, second] = [new RunContext({}), new RunContext({})];
  first.usage.requests = 1;
  const isCorrected = async (context) => assert((await attempt(context)).startsWith(CORRECTION));
  for (let at = 0; at < 4; at += 1) await isCorrected(first);
  for (let at = 0; at < 2; at += 1) {
    second.usage.requests += 1;
    await isCorrected(second);
  }
  second.usage.requests += 1;
  assert.match(await attempt(second), /human review required/);
  await isCorrected(first);
  const patient = guard([plain], { maxAttempts: 0, throttle: "off" })[0];
  for (let at = 0; at < 5; at += 1) {
    assert((await patient.invoke(second, JSON.stringify(WRONG))).startsWith(CORRECTION));
  }
});

async function connect(server) {
  const client = new Client({ name: "test", version: "1" });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(theirs), client.connect(ours)]);
  return client;
}

test("servers of the MCP SDK", async () => {
  const seen = [];
  const high = new McpServer({ name: "hotel", version: "1" });
  high.registerTool("reserve", { inputSchema: inputSchema.shape }, (given) => {
    seen.push(given);
    return { content: [{ type: "text", text: "ok" }], _meta: { own: 1 } };
  });
  const low = new Server({ name: "hotel", version: "1" }, { capabilities: { tools: { listChanged: true } } });
  const pages = ["reserve", "other"];
  low.setRequestHandler(ListToolsRequestSchema, ({ params }) => {
    const at = Number(params?.cursor ?? 0);
    const definition = { name: pages[at], inputSchema: z.toJSONSchema(inputSchema) };
    return { tools: [definition], ...(at + 1 < pages.length && { nextCursor: `${at + 1}` }) };
  });
  low.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    seen.push(params.arguments);
    return { content: [{ type: "text", text: "ok" }], _meta: { own: 1 } };
  });

  for (const server of [high, low]) {
    assert.equal(guard(server), server);
    const client = await connect(server);
    const call = (given, name = "reserve") => client.callTool({ name, arguments: given });
    const { _meta } = await call(MALFORMED);
    assert.deepEqual(_meta["gramc/repairs"].map(({ path }) => path), ["guests", "nights"]);
    assert.equal(_meta.own, 1);
    assert.deepEqual(await call(CHECKED), { content: [{ type: "text", text: "ok" }], _meta: { own: 1 } });
    assert.deepEqual(await call(WRONG), { content: [{ type: "text", text: CORRECTION }], isError: true });
    assert.deepEqual(seen.splice(0), [CHECKED, CHECKED]);
    await client.close();
  }

  pages.push("late");
  const client = await connect(low);
  await client.callTool({ name: "other", arguments: MALFORMED });
  const stripped = await client.callTool({ name: "other", arguments: { ...CHECKED, floor: 3 } });
  assert.deepEqual(stripped._meta["gramc/warnings"].map(({ code }) => code), ["stripped-arguments"]);
  pages.push("latest");
  await low.sendToolListChanged();
  await client.callTool({ name: "latest", arguments: MALFORMED });
  assert.deepEqual(seen, [CHECKED, CHECKED, CHECKED]);
});

test("an MCP server over HTTP", async () => {
  const sessions = new Map();
  const http = createServer(async (request, response) => {
    let transport = sessions.get(request.headers["mcp-session-id"]);
    if (!transport) {
      const onsessioninitialized = (id) => void sessions.set(id, transport);
      transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized });
      const server = new McpServer({ name: "hotel", version: "1" });
      server.registerTool("reserve", { inputSchema: inputSchema.shape }, (given, { requestInfo, sessionId }) => {
        return { content: [{ type: "text", text: JSON.stringify([given, requestInfo.headers["x-user"], sessionId]) }] };
      });
      await guard(server).connect(transport);
    }
    await transport.handleRequest(request, response);
  });
  await new Promise((done) => http.listen(0, "127.0.0.1", done));
  const url = new URL(`http://127.0.0.1:${http.address().port}/mcp`);
  for (const user of ["ada", "eve"]) {
    const client = new Client({ name: user, version: "1" });
    const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers: { "x-user": user } } });
    await client.connect(transport);
    const { content } = await client.callTool({ name: "reserve", arguments: MALFORMED });
    assert.deepEqual(JSON.parse(content[0].text), [CHECKED, user, transport.sessionId]);
    const refused = await client.callTool({ name: "reserve", arguments: WRONG });
    assert.deepEqual(refused, { content: [{ type: "text", text: CORRECTION }], isError: true });
    await client.close();
  }
  http.closeAllConnections();
  http.close();
});

test("tools of gramc", async () => {
  const parameters = z.object({ nights: z.int().default(1), day: z.iso.date().transform((day) => new Date(day)) });
  const execute = ({ nights, day }, context) => [nights, day.getUTCDate(), context];
  const [book] = guard([tool({ name: "book", parameters, execute })]);
  const context = { signal: new AbortController().signal };
  for (const given of ['{"day": "2026-12-09"', { day: "2026-12-09", nights: "1" }]) {
    assert.deepEqual(await book.definition.execute(given, context), [1, 9, context]);
  }
  assert.throws(() => book.definition.execute({ nights: 1 }), (error) => {
    assert(error instanceof CallRefused && !error.verdict.ok);
    return error.message === error.verdict.message && error.message.startsWith("`book`: ");
  });
});

test("values that are no tools are refused", () => {
  const expected = /^expected tools of the AI SDK, .* found /;
  for (const tools of [null, 7, "x", [7], [{}], { tool: 7 }, { tool: {} }, [() => 1]]) {
    assert.throws(() => guard(tools), { name: "TypeError", message: expected });
  }
  const claude = { name: "x", inputSchema: {}, handler: () => 1 };
  assert.throws(() => guard([claude]), /createSdkMcpServer/);
});
