/** Servers of the MCP SDK, versions 1 and 2. */

import type { JSONRPCMessage, Tool } from "@modelcontextprotocol/sdk/types.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";

import type { Verdict } from "../verdict.js";
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
    // A server with its own validation alone accepts some calls that do not fit the JSON Schema.
    new Connection(transport, options, inner !== server);
    return connect(transport);
  };
  return server;
}

/** The connection of a client: one conversation. */
class Connection {
  readonly #options: GuardOptions;
  readonly #validates: boolean;
  readonly #send: Transport["send"];
  /** The server's handler of messages. */
  #receive: Receive | undefined;
  #checks: Promise<Map<string, ToolCheck>> | undefined;
  readonly #answers = new Map<unknown, (message: JSONRPCMessage) => void>();
  /** The refusals of calls that the server validates, too, by the id of the request. */
  readonly #refusals = new Map<unknown, () => JSONRPCMessage>();
  /** Notes for the metadata of results, by the id of the request. */
  readonly #notes = new Map<unknown, object>();
  #asked = 0;

  constructor(transport: Transport, options: GuardOptions, validates: boolean) {
    this.#options = options;
    this.#validates = validates;
    this.#send = transport.send.bind(transport);
    const start = transport.start.bind(transport);
    // The server has set its handler when it starts the transport.
    transport.start = () => {
      this.#receive = transport.onmessage;
      transport.onmessage = (message, extra) => this.#take(message as JSONRPCMessage, extra);
      return start();
    };
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
    const known = checks.get(String(name));
    if (!known) return this.#receive?.(message, extra);
    const check = () => known.check(given, { callId: String(message.id), run: this });
    if (this.#validates && !known.validate(given).ok) {
      this.#refusals.set(message.id, () => refusal(message, check()));
      return this.#receive?.(message, extra);
    }
    const verdict = check();
    if (!verdict.ok) return this.#send(refusal(message, verdict), { relatedRequestId: message.id });
    const { repairs, warnings } = verdict;
    const notes = {
      ...(repairs.length && { "gramc/repairs": repairs }),
      ...(warnings.length && { "gramc/warnings": warnings }),
    };
    this.#notes.set(message.id, notes);
    const checked = { ...message, params: { ...params, name, arguments: verdict.arguments } };
    this.#receive?.(checked as JSONRPCMessage, extra);
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
    const isChange = "method" in message && message.method === "notifications/tools/list_changed";
    if (isChange) this.#checks = undefined;
    const send = (message: JSONRPCMessage) => {
      return this.#send(message, ...(rest as [Parameters<Transport["send"]>[1]]));
    };
    if ("method" in message || !("id" in message)) return send(message);
    const answer = take(this.#answers, message.id);
    if (answer) return Promise.resolve(answer(message));
    const [refuse, notes] = [take(this.#refusals, message.id), take(this.#notes, message.id)];
    if (refuse && isInputError(message)) return send(refuse());
    if (!notes || !("result" in message)) return send(message);
    const _meta = { ...message.result._meta, ...notes };
    return send({ ...message, result: { ...message.result, ...(Object.keys(_meta).length && { _meta }) } });
  }
}

/** Removes an entry, and returns its value. */
function take<V>(map: Map<unknown, V>, key: unknown): V | undefined {
  const value = map.get(key);
  map.delete(key);
  return value;
}

/** The answer to a refused call. */
function refusal({ id, params }: Request, { message: text }: Verdict): JSONRPCMessage {
  const isModern = "io.modelcontextprotocol/protocolVersion" in Object(params?._meta);
  const result = { ...(isModern && { resultType: "complete" }), content: [{ type: "text", text }], isError: true };
  return { jsonrpc: "2.0", id, result };
}

/** Whether a server refuses the arguments of a call. */
function isInputError(message: JSONRPCMessage): boolean {
  if (!("result" in message) || !message.result["isError"]) return false;
  const [first] = message.result["content"] as { text?: string }[];
  return /^(MCP error -32602: )?Input validation error: /.test(first?.text ?? "");
}
