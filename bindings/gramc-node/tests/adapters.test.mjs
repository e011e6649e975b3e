// Each adapter with the real framework: alone it fails on a malformed call, with gramc it succeeds.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Agent, run, setTracingDisabled, tool as agentTool, Usage } from "@openai/agents";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { generateText, stepCountIs, tool as aiTool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { loads, ToolLibrary } from "gramc";
import * as aiSdk from "gramc/ai-sdk";
import * as mcp from "gramc/mcp";
import * as openaiAgents from "gramc/openai-agents";
import { z } from "zod";

// A model sends the list and the number as text.
const MALFORMED = { guests: '["Ada"]', nights: "3" };
const WRONG = { guests: ["Ada"], nights: 90 };
const VALID = { guests: ["Ada"], nights: 3 };
const DONE = "1 guest, 3 nights";
const CORRECTION = /`nights` must be an integer from 1 to 30/;

const parameters = z.object({ guests: z.array(z.string()), nights: z.int() });

function reserve({ guests, nights, key }) {
  if (!Array.isArray(guests) || typeof nights !== "number" || key !== "s3cret-value") {
    throw new TypeError("malformed arguments");
  }
  return `${guests.length} guest, ${nights} nights`;
}

const plain = (given) => reserve({ ...given, key: "s3cret-value" });

function bound() {
  const spec = loads(`
    [reserve:Tool {description: "Reserves a room"} |
      (key::Text {injected: true, secret: true})
      ==>(guests::Text[])==>(nights::Int {range: 1..30})==>(::Text)]`);
  const library = new ToolLibrary("hotel");
  return spec.bind(library.tool("reserve", reserve, { inject: { key: "s3cret-value" } }));
}

test("AI SDK", async () => {
  /** Runs an agent whose model makes these calls, and returns what the model saw of each. */
  const seen = async (options, ...inputs) => {
    const replies = inputs.map((input, at) => ({
      content: [{ type: "tool-call", toolCallId: `c${at}`, toolName: "reserve", input }],
      finishReason: { unified: "tool-calls", raw: undefined },
    }));
    replies.push({ content: [{ type: "text", text: "done" }], finishReason: { unified: "stop", raw: undefined } });
    const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } };
    const doGenerate = replies.map((reply) => ({ ...reply, usage, warnings: [] }));
    const model = new MockLanguageModelV3({ doGenerate });
    const { text } = await generateText({ model, prompt: "Reserve", stopWhen: stepCountIs(9), ...options });
    assert.equal(text, "done");
    const results = model.doGenerateCalls.at(-1).prompt.filter(({ role }) => role === "tool");
    const [definition] = model.doGenerateCalls[0].tools;
    return { results: results.map(({ content }) => content[0].output), definition };
  };

  const alone = { tools: { reserve: aiTool({ inputSchema: parameters, execute: plain }) } };
  const failed = await seen(alone, JSON.stringify(MALFORMED));
  assert.equal(failed.results[0].type, "error-text");
  assert.match(failed.results[0].value, /Invalid input for tool reserve/);

  const session = bound().session();
  const options = { tools: aiSdk.tools(session), experimental_repairToolCall: aiSdk.repairToolCall };
  const calls = [JSON.stringify(MALFORMED), JSON.stringify(WRONG), '{"guests": ["Ada"], "nights": 3,}', "Ada, 3"];
  const { results, definition } = await seen(options, ...calls);
  assert.deepEqual(results[0], { type: "text", value: DONE });
  assert.equal(results[1].type, "error-text");
  assert.match(results[1].value, CORRECTION);
  assert.deepEqual(results[2], { type: "text", value: DONE });
  assert.equal(results[3].type, "error-text");
  assert.match(results[3].value, /`reserve`/);
  assert.equal(definition.description, "Reserves a room");
  assert.deepEqual(Object.keys(definition.inputSchema.properties), ["guests", "nights"]);
});

test("OpenAI Agents SDK", async () => {
  setTracingDisabled(true);
  /** The outputs of the calls that a model makes. */
  const outputs = async (tools, ...calls) => {
    const requests = [];
    const model = {
      getResponse: async (request) => {
        requests.push(request);
        const callArguments = calls[requests.length - 1];
        const call = { type: "function_call", callId: `c${requests.length}`, name: "reserve", status: "completed" };
        const done = { type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "done" }] };
        const output = callArguments === undefined ? [done] : [{ ...call, arguments: callArguments }];
        return { usage: new Usage(), output, responseId: "r" };
      },
    };
    const agent = new Agent({ name: "hotel", model, tools });
    assert.equal((await run(agent, "Reserve")).finalOutput, "done");
    const results = requests.at(-1).input.filter((item) => item.type === "function_call_result");
    return { results: results.map(({ output }) => output.text ?? output), request: requests[0] };
  };

  const alone = agentTool({ name: "reserve", description: "", parameters, execute: plain });
  const failed = await outputs([alone], JSON.stringify(MALFORMED));
  assert.match(failed.results[0], /error/i);

  const tools = openaiAgents.tools(bound().session());
  const calls = [JSON.stringify(MALFORMED), JSON.stringify(WRONG), '{"guests": ["Ada"], "nights": 3,}'];
  const { results, request } = await outputs(tools, ...calls);
  assert.equal(results[0], DONE);
  assert.match(results[1], CORRECTION);
  assert.match(results[2], /try again with valid JSON/);
  assert.deepEqual(Object.keys(request.tools[0].parameters.properties), ["guests", "nights"]);
});

test("MCP SDK", async () => {
  const connect = async (server) => {
    const client = new Client({ name: "test", version: "1" });
    const [one, other] = InMemoryTransport.createLinkedPair();
    await Promise.all([server.connect(one), client.connect(other)]);
    return client;
  };
  const call = (client, given) => client.callTool({ name: "reserve", arguments: given });

  const alone = new McpServer({ name: "hotel", version: "1" });
  const content = (text) => ({ content: [{ type: "text", text }] });
  alone.registerTool("reserve", { inputSchema: parameters.shape }, (given) => content(plain(given)));
  const failed = await call(await connect(alone), MALFORMED);
  assert.equal(failed.isError, true);

  const server = new Server({ name: "hotel", version: "1" }, { capabilities: { tools: {} } });
  mcp.serve(server, bound());
  const client = await connect(server);
  const { tools } = await client.listTools();
  assert.deepEqual(Object.keys(tools[0].inputSchema.properties), ["guests", "nights"]);
  const done = await call(client, MALFORMED);
  assert.deepEqual([done.content[0].text, done.isError], [DONE, undefined]);
  const refused = await call(client, WRONG);
  assert.equal(refused.isError, true);
  assert.match(refused.content[0].text, CORRECTION);
  assert.equal((await call(client, VALID)).content[0].text, DONE);
});
