// An agent of Mastra, whose tools know the user of the request.

import assert from "node:assert/strict";

import { Agent } from "@mastra/core/agent";
import { RequestContext } from "@mastra/core/request-context";
import { createTool } from "@mastra/core/tools";
import { MockLanguageModelV3 } from "ai/test";
import { guard } from "gramc";
import { z } from "zod";

const tools = {
  plan: createTool({
    id: "plan",
    description: "Plans a trip",
    inputSchema: z.object({
      days: z.int().min(1).max(14),
      start: z.iso.date(),
      options: z.object({ hotel: z.boolean(), stops: z.array(z.string()) }).optional(),
    }),
    outputSchema: z.object({ user: z.string(), days: z.number(), start: z.string(), stops: z.number() }),
    execute: async ({ days, start, options }, { requestContext }) => {
      return { user: `${requestContext?.get("user")}`, days, start, stops: options?.stops.length ?? 0 };
    },
  }),
};
const checked = guard(tools);

/** The outputs of calls, each in a reply of its own. */
async function plan(user: string, ...inputs: object[]) {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const calls = inputs.map((input, at) => ({
    content: [{ type: "tool-call" as const, toolCallId: `c${at}`, toolName: "plan", input: JSON.stringify(input) }],
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
  const model = new MockLanguageModelV3({ doGenerate: [...calls, end] });
  const agent = new Agent({ id: "travel", name: "travel", instructions: "Plan trips.", model: model as never, tools: checked });
  const requestContext = new RequestContext();
  requestContext.set("user", user);
  const { toolResults } = await agent.generate("Plan a trip", { requestContext, maxSteps: 8 });
  const [definition] = model.doGenerateCalls[0]!.tools as any[];
  assert.deepEqual(definition.inputSchema.properties.days, { type: "integer", minimum: 1, maximum: 14 });
  return toolResults.map(({ payload }) => payload.result as { user?: string; days?: number; error?: boolean });
}

const start = "2026-12-01";
assert.deepEqual(await plan("ada", { days: 3, start }), [{ user: "ada", days: 3, start, stops: 0 }]);
const [refused] = await plan("ada", { days: 90, start });
assert(refused!.error && /days/.test(JSON.stringify(refused)));
const many = await Promise.all(["b", "c", "d"].map((user, at) => plan(user, { days: at + 1, start })));
assert.deepEqual(many.map(([first]) => [first!.user, first!.days]), [["b", 1], ["c", 2], ["d", 3]]);

const [malformed] = await plan("eve", { days: "3", start, options: { hotel: "true", stops: ["Rome"] } });
if (!malformed!.error) assert.deepEqual(malformed, { user: "eve", days: 3, start, stops: 1 });
console.log(`malformed call: ${malformed!.error ? "failed" : "succeeded"}`);
