/** Bound libraries and conversations. */

import type { FunctionCall, VerdictText } from "./addon.js";
import { expectString } from "./errors.js";
import { cancel, run } from "./functions.js";
import { native } from "./native.js";
import type { Specification } from "./specification.js";
import { CallStream } from "./stream.js";
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

/**
 * Decides about a call that has to be approved: `true` approves it; `false`, a text with the reason, and an
 * exception refuse it; `null` means that there is no way to ask. Secret arguments are masked.
 */
export type Approve = (
  name: string,
  arguments_: Record<string, unknown>,
) => boolean | string | null | Promise<boolean | string | null>;

/** How a session behaves. */
export interface SessionOptions {
  /** Is asked about calls that have to be approved. Without it, they are refused. */
  approve?: Approve;
}

/** A library with the specification that it implements. */
export class Bound {
  /** @internal */
  readonly native: InstanceType<typeof native.BoundLibrary>;
  readonly specification: Specification;

  private constructor(bound: InstanceType<typeof native.BoundLibrary>, specification: Specification) {
    this.native = bound;
    this.specification = specification;
  }

  /** @internal */
  static of(bound: InstanceType<typeof native.BoundLibrary>, specification: Specification): Bound {
    return new Bound(bound, specification);
  }

  /** Problems that do not prevent binding. */
  get warnings(): string[] {
    return this.native.warnings;
  }

  /** Starts a conversation. */
  session(options: SessionOptions = {}): Session {
    const { approve } = options;
    const ask =
      approve &&
      ((call: FunctionCall, name: string, given: string) =>
        run(call, () => approve(name, JSON.parse(given))));
    return Session.of(this.native.session(ask ?? null, cancel), this);
  }
}

/** One conversation. */
export class Session {
  readonly #native: InstanceType<typeof native.Session>;
  readonly bound: Bound;

  private constructor(session: InstanceType<typeof native.Session>, bound: Bound) {
    this.#native = session;
    this.bound = bound;
  }

  /** @internal */
  static of(session: InstanceType<typeof native.Session>, bound: Bound): Session {
    return new Session(session, bound);
  }

  /** Checks a call and runs it. */
  async call(name: string, arguments_?: Arguments, options: CallOptions = {}): Promise<Verdict> {
    expectString(name, "name");
    const { id, finishReason } = options;
    const details = { id, finishReason };
    return runCall(options, (cancellation) =>
      this.#native.call(name, text(arguments_), details, cancellation),
    );
  }

  /** Begins a call with streamed arguments. */
  begin(name: string, options: { id?: string } = {}): CallStream {
    return CallStream.of(this.#native.begin(expectString(name, "name"), options.id), runCall);
  }

  /** Checks a call without running it. It counts towards no limit. */
  validate(name: string, arguments_?: Arguments, options: { id?: string } = {}): Verdict {
    const verdict = this.#native.validate(expectString(name, "name"), text(arguments_), options.id);
    return Verdict.of(verdict.ok, () => verdict.text);
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

  /** Begins a reply of the model: identical calls of one reply count as one. */
  beginReply(): void {
    this.#native.beginReply();
  }

  /** Forgets the failures of a tool, or of all tools. */
  reset(name?: string): void {
    if (!this.#native.reset(name)) throw new RangeError(`there is no tool \`${name}\``);
  }
}

/** Runs a call that a signal cancels. */
async function runCall(
  { signal }: CallOptions,
  start: (cancellation?: InstanceType<typeof native.Cancellation>) => Promise<VerdictText>,
): Promise<Verdict> {
  signal?.throwIfAborted();
  const cancellation = signal && new native.Cancellation();
  const stop = () => cancellation?.cancel();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    const verdict = await start(cancellation);
    signal?.throwIfAborted();
    return Verdict.of(verdict.ok, () => verdict.text);
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}
