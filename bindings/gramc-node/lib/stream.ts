/** Calls with streamed arguments. */

import type { CallStream as NativeStream, Cancellation, VerdictText } from "./addon.js";
import type { CallOptions } from "./session.js";
import { Verdict, type VerdictError } from "./verdict.js";

/** A piece of arguments: text, UTF-8, or a delta of a provider. */
export type Chunk = string | Uint8Array | object;

/** Runs a call that a signal cancels. */
type Run = (
  options: CallOptions,
  start: (number: number, cancellation?: Cancellation) => Promise<VerdictText>,
) => Promise<Verdict>;

/** A call with streamed arguments. */
export class CallStream {
  readonly #native: NativeStream;
  readonly #run: Run;
  /** Half of a character, which providers may put into a piece of its own. */
  #surrogate = "";

  private constructor(native: NativeStream, run: Run) {
    this.#native = native;
    this.#run = run;
  }

  /** @internal */
  static of(native: NativeStream, run: Run): CallStream {
    return new CallStream(native, run);
  }

  /** Adds a piece of the arguments as the model writes them. */
  feed(chunk: Chunk): void {
    if (chunk instanceof Uint8Array) return this.#native.feedBytes(chunk);
    const text = this.#surrogate + textOf(chunk);
    this.#surrogate = /[\uD800-\uDBFF]$/.test(text) ? text.slice(-1) : "";
    this.#native.feed(this.#surrogate ? text.slice(0, -1) : text);
  }

  /** The certain part of the arguments: complete parameters, and the growing text of the last one. */
  get value(): Record<string, unknown> {
    return JSON.parse(this.#native.value);
  }

  /** The error of the verdict, if the call is refused whatever follows. */
  get error(): VerdictError | undefined {
    const verdict = this.#native.error;
    return verdict ? Verdict.of(verdict.ok, () => verdict.text).error : undefined;
  }

  /** Checks the complete arguments and runs the call. */
  async finish(options: Omit<CallOptions, "callId"> = {}): Promise<Verdict> {
    this.#flush();
    return this.#run(options, (number, cancellation) => {
      return this.#native.finish(options.finishReason, number, cancellation);
    });
  }

  /** Ends an incomplete call, with its refusal. */
  stop(): Verdict {
    this.#flush();
    const verdict = this.#native.stop();
    return Verdict.of(verdict.ok, () => verdict.text);
  }

  #flush(): void {
    if (this.#surrogate) this.#native.feed("\uFFFD");
    this.#surrogate = "";
  }
}

/** The text in a delta of a provider. */
function textOf(chunk: string | object): string {
  if (typeof chunk === "string") return chunk;
  const delta = chunk as Record<string, unknown>;
  const parts = (delta["function"] ?? delta) as Record<string, unknown>;
  const keys = ["arguments", "partial_json", "delta", "inputTextDelta"];
  const text = keys.map((key) => parts[key]).find((it) => it !== undefined && it !== null);
  if (typeof text === "string") return text;
  if (typeof text === "object" && text) return textOf(text);
  throw new TypeError("expected text, bytes or a delta of a provider");
}
