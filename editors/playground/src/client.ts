/** Operations in the worker, and messages of the language server. */

import type { Operation, Outcome } from "./worker";

type Listener = (params: any) => void;

export class Client {
  readonly #worker = new Worker("worker.js", { type: "module" });
  readonly #waiting = new Map<number, (outcomes: Outcome[]) => void>();
  readonly #listeners = new Map<string, Listener>();
  #next = 1;

  constructor() {
    this.#worker.onmessage = ({ data }) => {
      this.#waiting.get(data.id)?.(data.outcomes);
      this.#waiting.delete(data.id);
    };
  }

  /** Runs operations, one after the other and without others between them. */
  run(operations: Operation[]): Promise<Outcome[]> {
    const id = this.#next++;
    const outcomes = new Promise<Outcome[]>((resolve) => this.#waiting.set(id, resolve));
    this.#worker.postMessage({ id, operations });
    return outcomes;
  }

  /** Runs one operation. */
  async runOne(name: string, parameters: object): Promise<any> {
    const [outcome] = await this.run([[name, parameters]]);
    if (outcome && "result" in outcome) return JSON.parse(outcome.result);
    throw new Error(outcome?.error);
  }

  /** Calls a function with the diagnostics of a document. */
  onDiagnostics(uri: string, listener: Listener): void {
    this.#listeners.set(uri, listener);
  }

  /** The operation that sends a notification to the language server. */
  notification(method: string, params: object): Operation {
    return ["lsp", { message: { jsonrpc: "2.0", method, params } }];
  }

  /** The operation that sends a request to the language server. */
  request(method: string, params: object): Operation {
    return ["lsp", { message: { jsonrpc: "2.0", id: this.#next++, method, params } }];
  }

  /** Passes notifications on, and returns the result of the request, if there was one. */
  receive(outcome: Outcome | undefined): any {
    let result: any = null;
    const messages = outcome && "result" in outcome ? JSON.parse(outcome.result) : [];
    for (const message of messages) {
      if (message.method) this.#listeners.get(message.params?.uri)?.(message.params);
      else result = message.result ?? null;
    }
    return result;
  }

  /** Sends a request to the language server and returns its result. */
  async ask(method: string, params: object): Promise<any> {
    const [outcome] = await this.run([this.request(method, params)]);
    return this.receive(outcome);
  }
}
