/** Tools for the OpenAI Agents SDK: `new Agent({ tools: tools(session), … })`. */

import { tool, type Tool } from "@openai/agents";

import type { Session } from "../session.js";
import { SessionTools } from "./session-tools.js";

/**
 * The tools of a session. The output of a refused call is the message for the model. Arguments that are no
 * JSON never reach a tool: the SDK answers them itself.
 */
export function tools(session: Session<object>): Tool[] {
  const sessionTools = new SessionTools(session);
  return sessionTools.definitions.map(({ name, description = "", inputSchema }) =>
    tool({
      name,
      description,
      parameters: inputSchema as never,
      // The schema is not in the strict form, and the session checks the arguments itself.
      strict: false,
      execute: async (input, _context, details) => {
        const call = details?.toolCall;
        const options = { callId: call?.callId, signal: details?.signal };
        const verdict = await sessionTools.call(name, call?.arguments ?? (input as object), options);
        return verdict.message;
      },
    }),
  );
}
