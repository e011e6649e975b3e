/** What adapters share: the tools of a session as a provider takes them, and calls of them. */

import type { CallOptions, Session, Arguments } from "../session.js";
import { text } from "../session.js";
import type { Verdict } from "../verdict.js";

/** A tool in the form of MCP. */
export interface McpTool {
  name: string;
  description?: string;
  inputSchema: { type: "object"; [key: string]: unknown };
  [key: string]: unknown;
}

/** The tools of a session in the form of MCP. */
export class SessionTools {
  readonly definitions: McpTool[];
  readonly #session: Session<object>;
  readonly #tools;

  constructor(session: Session<object>) {
    this.#session = session;
    this.#tools = session.bound.specification.native.toolsFor("mcp");
    this.definitions = this.#tools.tools.map((tool) => JSON.parse(tool.definition) as McpTool);
  }

  /** Checks and runs a call by its name in MCP. */
  call(name: string, arguments_: Arguments, options?: CallOptions): Promise<Verdict> {
    const call = this.#tools.restore(name, text(arguments_));
    // The model sees all tools, so none is hidden in a container.
    this.#session.expand(call.name);
    return this.#session.call(call.name, call.arguments ?? null, options);
  }
}
