/** Servers of the MCP SDK, versions 1 and 2. */

import type { JSONRPCMessage, Tool } from "@modelcontextprotocol/sdk/types.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

import { ToolCheck, type GuardOptions } from "./tool-check.js";

type Receive = NonNullable<Transport["onmessage"]>;
type Request = Extract<JSONRPCMessage, { method: string; id: unknown }>;

/** The part of a server that both versions share. */
export interface McpServer {
  connect(transport: Transport): Promise<void>;
}

/** Checks the calls of each client of a server where they arrive. */
export function guardMcpServer<S extends McpServer & { server?: McpServer }>(server: S, options: GuardOptions): S {
  const inner: McpServer = server.server ?? server;
  const connect = inner.connect.bind(inner);
  inner.connect = (transport) => {
    new Connection(transport, options);
    return connect(transport);
  };
  return server;
}

/** The connection of a client, which is a conversation. */
class Connection {
  readonly #options: GuardOptions;
  readonly #send: Transport["send"];
  /** What the server does with a message. */
  #receive: Receive | undefined;
  #checks: Promise<Map<string, ToolCheck>> | undefined;
  readonly #answers = new Map<unknown, (message: JSONRPCMessage) => void>();
  /** Notes for the metadata of results, by the id of the request. */
  readonly #notes = new Map<unknown, object>();
  #asked = 0;

  constructor(transport: Transport, options: GuardOptions) {
    this.#options = options;
    this.#send = transport.send.bind(transport);
    this.#receive = transport.onmessage;
    const guarded: Receive = (message, extra) => this.#take(message as JSONRPCMessage, extra);
    // The server sets its handler when it connects.
    Object.defineProperty(transport, "onmessage", {
      get: () => this.#receive && guarded,
      set: (receive: Receive | undefined) => (this.#receive = receive === guarded ? this.#receive : receive),
      configurable: true,
    });
    transport.send = (message, ...rest) => this.#give(message, rest);
  }

  #take(message: JSONRPCMessage, extra: Parameters<Receive>[1]): void {
    const isCall = "method" in message && "id" in message && message.method === "tools/call";
    if (!isCall) return this.#receive?.(message, extra);
    void this.#check(message, extra);
  }

  async #check(message: Request, extra: Parameters<Receive>[1]): Promise<void> {
    const { name, arguments: given, ...params } = message.params as Record<string, unknown>;
    const checks = await (this.#checks ??= this.#list(message, extra).catch(() => new Map()));
    const verdict = checks.get(String(name))?.check(given, { callId: String(message.id), run: this });
    if (!verdict) return this.#receive?.(message, extra);
    if (verdict.ok) {
      const checked = { ...message, params: { ...params, name, arguments: verdict.arguments } };
      const { repairs, warnings } = verdict;
      const notes = {
        ...(repairs.length && { "gramc/repairs": repairs }),
        ...(warnings.length && { "gramc/warnings": warnings }),
      };
      this.#notes.set(message.id, notes);
      return this.#receive?.(checked as JSONRPCMessage, extra);
    }
    const isModern = "io.modelcontextprotocol/protocolVersion" in Object(params["_meta"]);
    const content = [{ type: "text", text: verdict.message }];
    const result = { ...(isModern && { resultType: "complete" }), content, isError: true };
    await this.#send({ jsonrpc: "2.0", id: message.id, result } as JSONRPCMessage, { relatedRequestId: message.id });
  }

  /** The tools that the server lists for this client. */
  async #list(message: Request, extra: Parameters<Receive>[1]): Promise<Map<string, ToolCheck>> {
    const checks = new Map<string, ToolCheck>();
    const { _meta } = message.params as { _meta?: object };
    let cursor: string | undefined;
    do {
      const answer = await this.#ask({ ...(_meta && { _meta }), ...(cursor && { cursor }) }, extra);
      for (const tool of answer.tools) {
        const check = ToolCheck.of(tool, this.#options);
        if (check) checks.set(tool.name, check);
      }
      cursor = answer.nextCursor;
    } while (cursor);
    return checks;
  }

  /** Asks the server for its tools in the name of the client. */
  #ask(params: object, extra: Parameters<Receive>[1]): Promise<{ tools: Tool[]; nextCursor?: string }> {
    const id = `gramc-tools-${(this.#asked += 1)}`;
    return new Promise((done, fail) => {
      this.#answers.set(id, (answer) => {
        if ("result" in answer) done(answer.result as { tools: Tool[] });
        else fail(new Error("the server lists no tools"));
      });
      this.#receive?.({ jsonrpc: "2.0", id, method: "tools/list", params } as JSONRPCMessage, extra);
    });
  }

  #give(message: JSONRPCMessage, rest: unknown[]): Promise<void> {
    if (!("method" in message) && "id" in message) {
      const answer = this.#answers.get(message.id);
      if (answer) {
        this.#answers.delete(message.id);
        answer(message);
        return Promise.resolve();
      }
      const notes = this.#notes.get(message.id) ?? {};
      this.#notes.delete(message.id);
      if ("result" in message && Object.keys(notes).length) {
        message = { ...message, result: { ...message.result, _meta: { ...message.result._meta, ...notes } } };
      }
    }
    const isChange = "method" in message && message.method === "notifications/tools/list_changed";
    if (isChange) this.#checks = undefined;
    return this.#send(message, ...(rest as [Parameters<Transport["send"]>[1]]));
  }
}
