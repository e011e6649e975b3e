/** Tools for the AI SDK: `generateText({ tools: tools(session), … })`. */

import { jsonSchema, tool, type Tool } from "ai";

import type { Session } from "../session.js";
import { SessionTools } from "./session-tools.js";

/** The tools of a session, with the types of their input and output if its library has them. */
export type SessionToolSet<Tools> = {
  [Name in keyof Tools & string]: Tools[Name] extends (input: infer Input) => infer Output
    ? Tool<Input, Awaited<Output>>
    : never;
};

/**
 * The tools of a session. A refused call throws an error with the message for the model, which the AI SDK
 * hands over as a tool error.
 */
export function tools<Tools extends object>(session: Session<Tools>): SessionToolSet<Tools> {
  const sessionTools = new SessionTools(session);
  const made = sessionTools.definitions.map(({ name, description = "", inputSchema }) => {
    const execute = async (
      input: unknown,
      options: { toolCallId: string; abortSignal?: AbortSignal },
    ) => {
      // Arguments that are no object are text, see `repairToolCall`.
      const verdict = await sessionTools.call(name, input as object | string, {
        callId: options.toolCallId,
        signal: options.abortSignal,
      });
      if (!verdict.ok) throw new Error(verdict.message);
      return verdict.result;
    };
    // The session checks the arguments, so the schema has no check of its own.
    const definition = tool({ description, inputSchema: jsonSchema<unknown>(inputSchema), execute });
    return [name, definition as Tool<unknown, unknown>] as const;
  });
  return Object.fromEntries(made) as SessionToolSet<Tools>;
}

/**
 * For the option `experimental_repairToolCall`: hands arguments that are no JSON to the session, which
 * repairs them or tells the model what is wrong.
 */
export async function repairToolCall<Call extends { input: string }>(options: {
  toolCall: Call;
  error: unknown;
}): Promise<Call | null> {
  const { toolCall, error } = options;
  const isOfArguments = (error as Error | null)?.name === "AI_InvalidToolInputError";
  return isOfArguments ? { ...toolCall, input: JSON.stringify(toolCall.input) } : null;
}
