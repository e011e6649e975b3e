/** Tools for a server of the MCP SDK: `serve(server, bound)`. */

import type { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { CallToolResult } from "@modelcontextprotocol/sdk/types.js";

import type { Bound } from "../session.js";
import type { Verdict } from "../verdict.js";
import { SessionTools } from "./session-tools.js";

/**
 * Serves the tools of a bound library: answers `tools/list` and `tools/call`. The server needs the
 * capability `tools`, and has one session, as it has one client.
 */
export function serve(server: Server, bound: Bound<object>): void {
  const sessionTools = new SessionTools(bound.session());
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: sessionTools.definitions }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal }) => {
    return result(await sessionTools.call(params.name, params.arguments ?? {}, { signal }));
  });
}

function result(verdict: Verdict): CallToolResult {
  const content: CallToolResult["content"] = [{ type: "text", text: verdict.message }];
  if (!verdict.ok) return { content, isError: true };
  const { result } = verdict;
  const isRecord = typeof result === "object" && result !== null && !Array.isArray(result);
  return isRecord ? { content, structuredContent: result as Record<string, unknown> } : { content };
}
