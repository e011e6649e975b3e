// What programs in TypeScript write. It is checked, and does not run.

import { BindError, experiment, load, loads, SpecError, tool, ToolLibrary, type Session, type Verdict } from "gramc";
import * as aiSdk from "gramc/ai-sdk";
import * as mcp from "gramc/mcp";
import * as openaiAgents from "gramc/openai-agents";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { Agent } from "@openai/agents";
import { generateText, type LanguageModel } from "ai";
import { z } from "zod";

interface Order {
  id: number;
}

export async function main(model: LanguageModel, server: Server): Promise<void> {
  const spec = load(["shop.gram"]);
  const names: string[] = spec.names;
  const library = new ToolLibrary("shop", { timeout: 500, throttle: "off" })
    .tool("findOrder", async ({ id }: Order, { signal }) => ({ id, isAborted: signal.aborted, names }))
    .tool("count", () => 1, { inject: { token: "x" }, parameters: z.object({}) });
  const session: Session = spec.bind(library).session();
  const verdict: Verdict = await session.call("findOrder", { id: 7 }, { signal: AbortSignal.timeout(9) });
  const id: unknown = verdict.arguments?.id;
  const rules: string[] = verdict.repairs.map((repair) => repair.rule);
  const text: string = loads("[f:Tool | ()==>(::Any)]").validate("f").message + id + rules;
  const book = tool({
    name: "book",
    parameters: z.object({ city: z.string() }),
    execute: ({ city }: { city: string }) => city + text,
  });
  book.specification.bind(new ToolLibrary("l").tool(book));

  await generateText({ model, tools: aiSdk.tools(session), experimental_repairToolCall: aiSdk.repairToolCall, prompt: "" });
  new Agent({ name: "shop", tools: openaiAgents.tools(session) });
  mcp.serve(server, session.bound);
  try {
    loads("");
  } catch (error) {
    if (error instanceof SpecError) console.log(error.diagnostics[0]?.code);
    if (error instanceof BindError) console.log(error.gaps[0]?.tool);
  }
  const arms = { a: session.bound, b: spec.bind(library) };
  const agent = async (session: Session, message: string) => (await session.call("count", message)).message;
  const report = await experiment({ agent, arms, cases: ["x", { input: "y" }], repeats: 2 });
  const passes: boolean = report.gate("success >= -1pp");
  console.log(passes, report.toJSON().comparisons);
  // @ts-expect-error There is no such setting.
  new ToolLibrary("l", { time: 1 });
  // @ts-expect-error A verdict is no text.
  const wrong: string = verdict;
  console.log(wrong);
}
