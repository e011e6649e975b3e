// The AI SDK with parallel calls, results that arrive in parts, tools without a function, and approval.

import assert from "node:assert/strict";

import { generateText, simulateReadableStream, stepCountIs, streamText, tool } from "ai";
import { MockLanguageModelV3 } from "ai/test";
import { guard } from "gramc";
import { z } from "zod";

const removed: string[] = [];
const asked: unknown[] = [];

const tools = {
  weather: tool({
    description: "Tells the weather",
    inputSchema: z.object({ city: z.string(), days: z.int().min(1).default(1) }),
    async *execute({ city, days }) {
      yield { city, state: "loading", days: 0 };
      yield { city, state: "sunny", days };
    },
  }),
  remove: tool({
    description: "Removes a file",
    inputSchema: z.object({ path: z.string(), force: z.boolean().default(false) }),
    needsApproval: async (input, { toolCallId }) => {
      asked.push({ ...input, toolCallId });
      return input.path !== "/tmp/x";
    },
    execute: async ({ path }) => removed.push(path),
  }),
  // The browser runs it.
  locate: tool({ description: "Finds the user", inputSchema: z.object({ precise: z.boolean() }) }),
};
const checked = guard(tools);

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 },
};
type Calls = [name: string, input: object][];

/** The parts of a reply with calls. */
function reply(calls: Calls) {
  const content = calls.map(([toolName, input], at) => {
    return { type: "tool-call" as const, toolCallId: `c${at}`, toolName, input: JSON.stringify(input) };
  });
  const text = [{ type: "text" as const, text: "done" }];
  const unified = calls.length ? ("tool-calls" as const) : ("stop" as const);
  return { content: calls.length ? content : text, finishReason: { unified, raw: undefined }, usage, warnings: [] };
}

/** The outputs of calls in one reply, as the program sees them while they stream. */
async function stream(calls: Calls) {
  const replies = [reply(calls), reply([])];
  const model = new MockLanguageModelV3({
    doStream: async () => {
      const { content, ...end } = replies.shift()!;
      const text = [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: "done" }, { type: "text-end", id: "t" }];
      const parts = content.flatMap<object>((part) => (part.type === "text" ? text : [part]));
      return { stream: simulateReadableStream({ chunks: [...parts, { type: "finish", ...end }] as never[] }) };
    },
  });
  const outputs: { id: string; city: string; state: string; days: number; preliminary: boolean }[] = [];
  const { fullStream } = streamText({ model, prompt: "How is it?", tools: checked, stopWhen: stepCountIs(3) });
  for await (const part of fullStream) {
    if (part.type !== "tool-result" || part.dynamic || part.toolName !== "weather") continue;
    outputs.push({ id: part.toolCallId, ...part.output, preliminary: part.preliminary ?? false });
  }
  return outputs;
}

const generate = (calls: Calls) => {
  const model = new MockLanguageModelV3({ doGenerate: [reply(calls), reply([])] });
  return generateText({ model, prompt: "Go", tools: checked, stopWhen: stepCountIs(3) });
};

const both = await stream([["weather", { city: "Rome", days: 2 }], ["weather", { city: "Oslo" }]]);
for (const [id, city, days] of [["c0", "Rome", 2], ["c1", "Oslo", 1]] as const) {
  const parts = both.filter((part) => part.id === id).map(({ id: _, ...part }) => part);
  assert.deepEqual(parts, [
    { city, state: "loading", days: 0, preliminary: true },
    { city, state: "sunny", days, preliminary: true },
    { city, state: "sunny", days, preliminary: false },
  ]);
}

const approved = await generate([["remove", { path: "/tmp/x" }], ["remove", { path: "/etc" }]]);
assert.deepEqual(removed, ["/tmp/x"]);
assert.deepEqual(asked, [
  { path: "/tmp/x", force: false, toolCallId: "c0" },
  { path: "/etc", force: false, toolCallId: "c1" },
]);
assert(approved.content.some((part) => part.type === "tool-approval-request"));

const located = await generate([["locate", { precise: true }]]);
assert.deepEqual(located.toolCalls[0]?.input, { precise: true });
assert.deepEqual(located.toolResults, []);

const [, , last] = await stream([["weather", { city: "Bern", days: "two", Days: 2 }]]);
assert.equal(last, undefined);
const malformed = await stream([["weather", { city: "Bern", days: "2" }]]);
if (malformed.length) assert.equal(malformed.at(-1)?.days, 2);
console.log(`malformed call: ${malformed.length ? "succeeded" : "failed"}`);
