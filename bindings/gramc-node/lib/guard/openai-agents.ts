/** Tools of the OpenAI Agents SDK. */

import type { FunctionTool } from "@openai/agents";

import { CallRefused, changed, ToolCheck, type GuardOptions } from "./tool-check.js";

/** A tool that checks its calls before the SDK parses them. */
export function guardAgentTool(tool: FunctionTool, options: GuardOptions): FunctionTool {
  const { name, description, parameters } = tool;
  const check = ToolCheck.of({ name, description, inputSchema: parameters }, options);
  if (!check) return tool;
  const invoke: FunctionTool["invoke"] = async (context, input, details) => {
    const callId = details?.toolCall?.callId;
    const verdict = check.check(input, { callId, run: context, reply: context.usage.requests });
    if (verdict.ok) return tool.invoke(context, JSON.stringify(verdict.arguments), details);
    // Without a schema of results, errors are texts.
    if (!tool.outputSchema) return verdict.message;
    const refusal = new CallRefused(verdict);
    if (!tool.errorFunction) throw refusal;
    return tool.errorFunction(context, refusal, details);
  };
  const needsApproval: FunctionTool["needsApproval"] = async (context, input, callId) => {
    const verdict = check.validate(input);
    return verdict.ok && tool.needsApproval(context, verdict.arguments as never, callId);
  };
  // A constant decision does not depend on the arguments.
  const isConstant = tool.needsApproval.length === 0;
  return changed(tool, isConstant ? { invoke } : { invoke, needsApproval });
}
