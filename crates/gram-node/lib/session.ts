/** Bound libraries and conversations. */

import { native } from "./native.js";
import type { Specification } from "./specification.js";
import { Verdict } from "./verdict.js";

/** Arguments of a call: JSON text as the model wrote it, or an object. */
export type Arguments = string | object | null;

/** @internal Arguments as JSON text. */
export function text(arguments_: Arguments | undefined): string | undefined {
  if (arguments_ === undefined || arguments_ === null) return undefined;
  return typeof arguments_ === "string" ? arguments_ : JSON.stringify(arguments_);
}

/** What belongs to a call apart from its name and its arguments. */
export interface CallOptions {
  /** The identifier of the call. */
  id?: string;
  /**
   * How the model's reply ended, if the call is the last one in it. A call that a token limit cut off
   * does not run.
   */
  finishReason?: string;
  /** Cancels the call. The promise is rejected with the reason of the signal. */
  signal?: AbortSignal;
}

/** A library with the specification that it implements. */
export class Bound {
  /** @internal */
  readonly native: InstanceType<typeof native.BoundLibrary>;
  readonly specification: Specification;

  /** @internal */
  constructor(bound: InstanceType<typeof native.BoundLibrary>, specification: Specification) {
    this.native = bound;
    this.specification = specification;
  }

  /** Problems that do not prevent binding. */
  get warnings(): string[] {
    return this.native.warnings;
  }

  /** Starts a conversation. */
  session(): Session {
    return new Session(this.native.session(), this);
  }
}

/** One conversation. */
export class Session {
  readonly #native: InstanceType<typeof native.Session>;
  readonly bound: Bound;

  /** @internal */
  constructor(session: InstanceType<typeof native.Session>, bound: Bound) {
    this.#native = session;
    this.bound = bound;
  }

  /** Checks a call and runs it. */
  async call(name: string, arguments_?: Arguments, options: CallOptions = {}): Promise<Verdict> {
    const { signal, id, finishReason } = options;
    signal?.throwIfAborted();
    const cancellation = signal && new native.Cancellation();
    const cancel = () => cancellation?.cancel();
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      const details = { id, finishReason };
      const verdict = await this.#native.call(name, text(arguments_), details, cancellation);
      signal?.throwIfAborted();
      return new Verdict(verdict.ok, () => verdict.text);
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  }

  /** Checks a call without running it. It counts towards no limit. */
  validate(name: string, arguments_?: Arguments, options: { id?: string } = {}): Verdict {
    const verdict = this.#native.validate(name, text(arguments_), options.id);
    return new Verdict(verdict.ok, () => verdict.text);
  }

  /** The names that can be called now. */
  get names(): string[] {
    return this.#native.names;
  }

  /** Expands a container, or the containers of a tool, like a call of the container. */
  expand(name: string): void {
    this.#native.expand(name);
  }

  /** Begins a turn after a message of the user. */
  beginTurn(): void {
    this.#native.beginTurn();
  }

  /** Forgets the failures of a tool, or of all tools. */
  reset(name?: string): void {
    if (!this.#native.reset(name)) throw new RangeError(`there is no tool \`${name}\``);
  }
}
