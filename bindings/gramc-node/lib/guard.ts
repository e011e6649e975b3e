/** Checks in front of the tools of a framework. */

import type { Tool as AiTool } from "ai";
import type { FunctionTool } from "@openai/agents";

import { guardAiTool } from "./guard/ai-sdk.js";
import { guardMastraTool, isMastraTool } from "./guard/mastra.js";
import { guardMcpServer, type McpServer } from "./guard/mcp.js";
import { guardAgentTool } from "./guard/openai-agents.js";
import { CallRefused, ToolCheck, type GuardOptions } from "./guard/tool-check.js";
import { parsed, schemaOf, Tool } from "./tool.js";

type Entry = Record<string, unknown>;

/**
 * Checks and repairs the calls of tools. Takes a tool set of the AI SDK or of Mastra, a list of tools of
 * the OpenAI Agents SDK or of `tool`, a server of the MCP SDK, or one of `createSdkMcpServer` of the
 * Claude Agent SDK, and returns the same kind: a server itself, of tools copies. The model sees the same
 * tools as before, and accepted calls run as they do without the guard.
 */
export function guard<T extends object>(tools: T, options: GuardOptions = {}): T {
  if (Array.isArray(tools)) return tools.map((tool: unknown) => guardListed(tool, options)) as unknown as T;
  if (isEntry(tools)) {
    const { instance, connect } = tools;
    if (typeof connect === "function") return guardMcpServer(tools as Entry & McpServer, options) as T;
    if (tools["type"] === "sdk" && isEntry(instance)) return guard(instance, options) && (tools as T);
    const entries = Object.entries(tools);
    if (entries.every(([, tool]) => isEntry(tool))) {
      return Object.fromEntries(entries.map(([name, tool]) => [name, guardNamed(name, tool as Entry, options)])) as T;
    }
  }
  return refuse(tools);
}

function isEntry(value: unknown): value is Entry {
  return typeof value === "object" && value !== null;
}

/** Guards a tool of a list. */
function guardListed(tool: unknown, options: GuardOptions): unknown {
  if (tool instanceof Tool) return guardFunction(tool, options);
  if (!isEntry(tool)) return refuse(tool);
  if (typeof tool["handler"] === "function") {
    throw new TypeError("the Claude Agent SDK validates calls of these tools itself: guard the result of `createSdkMcpServer`");
  }
  if (isMastraTool(tool)) return guardMastraTool(tool, options);
  if (typeof tool["type"] !== "string") return refuse(tool);
  // Hosted tools run elsewhere.
  const isFunction = tool["type"] === "function" && typeof tool["invoke"] === "function";
  return isFunction ? guardAgentTool(tool as unknown as FunctionTool, options) : tool;
}

/** Guards a tool of a tool set. */
function guardNamed(name: string, tool: Entry, options: GuardOptions): unknown {
  if (isMastraTool(tool)) return guardMastraTool(tool, options);
  // A tool of the provider runs there.
  if (String(tool["type"]).startsWith("provider")) return tool;
  if (!("inputSchema" in tool)) return refuse(tool);
  return guardAiTool(name, tool as unknown as AiTool, options);
}

/** A tool in code that takes raw arguments, and throws a `CallRefused` if they are refused. */
function guardFunction(tool: Tool, options: GuardOptions): Tool {
  const { name, description, parameters, execute } = tool.definition;
  const check = ToolCheck.of({ name, description, inputSchema: schemaOf(parameters) }, options);
  if (!check) return tool;
  const run = parsed(parameters, execute);
  return Tool.of({
    ...tool.definition,
    execute: (given, context) => {
      const verdict = check.validate(given);
      check.report(verdict);
      if (!verdict.ok) throw new CallRefused(verdict);
      return run(verdict.arguments, context);
    },
  });
}

function refuse(tools: unknown): never {
  const found = Array.isArray(tools) ? "an array" : tools === null ? "null" : typeof tools;
  throw new TypeError(
    "expected tools of the AI SDK, the OpenAI Agents SDK, Mastra or gramc, or a server of the MCP SDK, " +
      `found ${found === "object" ? "another object" : found}`,
  );
}
