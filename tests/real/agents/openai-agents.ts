// An agent of the OpenAI Agents SDK with a context for each run, calls that are approved, and hosted tools.

import assert from "node:assert/strict";

import { Agent, run, setTracingDisabled, tool, Usage, webSearchTool, type Model, type RunContext } from "@openai/agents";
import { guard } from "gramc";
import { z } from "zod";

setTracingDisabled(true);

interface User {
  name: string;
  orders: number[];
}

const tools = [
  tool({
    name: "find_order",
    description: "Finds an order of the user",
    parameters: z.object({ id: z.number().int(), fields: z.array(z.string()).nullable() }),
    execute: async ({ id, fields }, context?: RunContext<User>) => {
      const { name, orders } = context!.context;
      if (!orders.includes(id)) throw new RangeError(`${name} has no order ${id}`);
      return { id, owner: name, fields };
    },
    errorFunction: (_context, error) => (error as Error).message,
  }),
  tool({
    name: "refund",
    description: "Refunds an order",
    parameters: z.object({ id: z.number().int() }),
    needsApproval: async (_context, { id }) => id > 5,
    execute: async ({ id }) => `refunded ${id}`,
  }),
  webSearchTool(),
];
const checked = guard(tools);

type Calls = [name: string, input: string][];

/** A model that makes calls, all in one reply, and then answers. */
function scripted(replies: Calls[]): Model & { requests: any[] } {
  const requests: any[] = [];
  return {
    requests,
    getResponse: async (request) => {
      const calls = replies[requests.length] ?? [];
      requests.push(request);
      const output = calls.map(([name, text], at) => {
        const callId = `c${requests.length}-${at}`;
        return { type: "function_call" as const, callId, name, status: "completed" as const, arguments: text };
      });
      const content = [{ type: "output_text" as const, text: "done" }];
      const message = { type: "message" as const, role: "assistant" as const, status: "completed" as const, content };
      return { usage: new Usage(), output: output.length ? output : [message] };
    },
    getStreamedResponse: () => assert.fail("not streamed"),
  };
}

/** The outputs of the calls in a run. */
async function outputs(user: User, ...replies: Calls[]): Promise<string[]> {
  const model = scripted(replies);
  const agent = new Agent<User>({ name: "shop", model, tools: checked });
  const { finalOutput } = await run(agent, "Help me", { context: user });
  assert.equal(finalOutput, "done");
  const [request] = model.requests;
  assert.equal(request.tools.length, 3);
  assert.deepEqual(request.tools[0].parameters.required, ["id", "fields"]);
  assert.equal(request.tools[0].strict, true);
  const results = model.requests.at(-1).input.filter((item: any) => item.type === "function_call_result");
  return results.map((item: any) => item.output.text ?? item.output);
}

const find = (id: unknown): [string, string] => ["find_order", JSON.stringify({ id, fields: null })];
const ada = { name: "Ada", orders: [1, 2] };
const both = await outputs(ada, [find(1), find(2)]);
assert.deepEqual(both.map((text) => JSON.parse(text).id), [1, 2]);
const [failed] = await outputs(ada, [find(9)]);
assert.match(failed!, /Ada has no order 9/);

// Many runs at the same time: one model keeps sending wrong calls.
const users = Array.from({ length: 10 }, (_, at) => ({ name: `user${at}`, orders: [at] }));
const runs = await Promise.all(
  users.map((user, at) => (at === 3 ? outputs(user, ...[1, 2, 3, 4].map(() => [find({})])) : outputs(user, [find(at)]))),
);
const owners = runs.map(([first]) => (first!.startsWith("{") ? JSON.parse(first!).owner : undefined));
assert.deepEqual(owners, users.map(({ name }, at) => (at === 3 ? undefined : name)));

// The decision of a human.
const model = scripted([[["refund", '{"id": 3}'], ["refund", '{"id": 7}']]]);
const agent = new Agent<User>({ name: "shop", model, tools: checked });
const interrupted = await run(agent, "Refund", { context: ada });
assert.equal(interrupted.interruptions.length, 1);
interrupted.state.approve(interrupted.interruptions[0]!);
const resumed = await run(agent, interrupted.state);
const refunds = model.requests.at(-1).input.filter((item: any) => item.type === "function_call_result");
assert.deepEqual(refunds.map((item: any) => item.output.text).toSorted(), ["refunded 3", "refunded 7"]);
assert.equal(resumed.finalOutput, "done");

const [output] = await outputs(ada, [["find_order", '{"id": "2", "fields": "[\\"total\\"]"}']]);
const succeeded = output!.startsWith("{");
if (succeeded) assert.deepEqual(JSON.parse(output!), { id: 2, owner: "Ada", fields: ["total"] });
console.log(`malformed call: ${succeeded ? "succeeded" : "failed"}`);
