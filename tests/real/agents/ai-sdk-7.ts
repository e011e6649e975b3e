// An agent of the AI SDK 7, whose calls are approved, and whose tools have a context of their own.

import assert from "node:assert/strict";

import { isStepCount, tool, ToolLoopAgent } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { guard } from "gramc";
import { z } from "zod";

const charged: [account: string, amount: number][] = [];

const tools = {
  charge: tool({
    description: "Charges the account of the user",
    inputSchema: z.object({ amount: z.number().positive(), note: z.string().default("") }),
    contextSchema: z.object({ account: z.string() }),
    execute: async ({ amount }, { context }) => {
      charged.push([context.account, amount]);
      return `charged ${amount}`;
    },
  }),
};
const checked = guard(tools);

/** The outputs of calls, each in a reply of its own. */
async function charge(account: string, ...inputs: object[]) {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const calls = inputs.map((input, at) => ({
    content: [{ type: "tool-call" as const, toolCallId: `c${at}`, toolName: "charge", input: JSON.stringify(input) }],
    finishReason: { unified: "tool-calls" as const, raw: undefined },
    usage,
    warnings: [],
  }));
  const end = {
    content: [{ type: "text" as const, text: "done" }],
    finishReason: { unified: "stop" as const, raw: undefined },
    usage,
    warnings: [],
  };
  const model = new MockLanguageModelV4({ doGenerate: [...calls, end] });
  const agent = new ToolLoopAgent({
    model,
    tools: checked,
    toolsContext: { charge: { account } },
    toolApproval: { charge: ({ amount }) => (amount > 100 ? "user-approval" : "not-applicable") },
    stopWhen: isStepCount(5),
  });
  const { steps } = await agent.generate({ prompt: "Charge" });
  return steps.flatMap(({ content }) => content);
}

const small = await charge("ada", { amount: 5 });
assert(small.some((part) => part.type === "tool-result" && part.output === "charged 5"));
const large = await charge("ada", { amount: 500 });
assert(large.some((part) => part.type === "tool-approval-request"));
await Promise.all(["b", "c", "d"].map((account, at) => charge(account, { amount: at + 1, note: "x" })));
assert.deepEqual(charged.toSorted(), [["ada", 5], ["b", 1], ["c", 2], ["d", 3]]);

const refused = await charge("eve", { amount: -1 });
assert(refused.some((part) => part.type === "tool-error"));
const malformed = await charge("eve", { amount: "7" });
const succeeded = malformed.some((part) => part.type === "tool-result" && part.output === "charged 7");
assert.deepEqual(charged.slice(4), succeeded ? [["eve", 7]] : []);
console.log(`malformed call: ${succeeded ? "succeeded" : "failed"}`);
