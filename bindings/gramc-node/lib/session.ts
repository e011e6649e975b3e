/** Bound libraries and conversations. */

import { AsyncResource } from "node:async_hooks";

import type { FunctionCall, VerdictText } from "./addon.js";
import { expectString } from "./errors.js";
import { cancel, run, withSessionCall, type SessionCall, type ToolFunctions } from "./functions.js";
import { native } from "./native.js";
import type { Specification } from "./specification.js";
import { CallStream } from "./stream.js";
import { traceCall, traceContext } from "./telemetry.js";
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
  callId?: string | undefined;
  /**
   * How the model's reply ended, if the call is the last one in it. A call that a token limit cut off
   * does not run.
   */
  finishReason?: string | undefined;
  /** Cancels the call. The promise is rejected with the reason of the signal. */
  signal?: AbortSignal | undefined;
  /** Values for the function, in addition to those of the session. */
  inject?: Record<string, unknown> | undefined;
}

/** The values that the specification declares as injected parameters, as JSON text. */
function injectedText(bound: Bound<object>, inject: Record<string, unknown> | undefined): string | undefined {
  if (!inject) return undefined;
  const declared = bound.specification.native.injected.filter((name) => name in inject);
  return JSON.stringify(Object.fromEntries(declared.map((name) => [name, inject[name]])));
}

const OPTIONS = new Set(["callId", "finishReason", "signal", "inject"]);

/** @internal Options, without names of parameters among them. */
export function expectOptions<T extends object>(options: T): T {
  for (const name in options) {
    if (OPTIONS.has(name)) continue;
    throw new TypeError(
      `\`${name}\` is not an option of calls; pass arguments in an object: \`call("f", { ${name}: … })\``,
    );
  }
  return options;
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
  approve?: Approve | undefined;
  /** Values for functions, in `inject` of their second argument. They can be any objects, and no model sees them. */
  inject?: Record<string, unknown> | undefined;
  /** Called with the verdict on each call. */
  onVerdict?: ((verdict: Verdict) => void) | undefined;
}

/** A library with the specification that it implements. */
export class Bound<Tools extends object = ToolFunctions> {
  /** The types of its tools. */
  declare readonly "~tools"?: Tools;
  /** @internal */
  readonly native: InstanceType<typeof native.BoundLibrary>;
  readonly specification: Specification;

  private constructor(bound: InstanceType<typeof native.BoundLibrary>, specification: Specification) {
    this.native = bound;
    this.specification = specification;
  }

  /** @internal */
  static of<Tools extends object>(
    bound: InstanceType<typeof native.BoundLibrary>,
    specification: Specification,
  ): Bound<Tools> {
    return new Bound(bound, specification);
  }

  /** Problems that do not prevent binding. */
  get warnings(): string[] {
    return this.native.warnings;
  }

  /** Starts a conversation. */
  session(options: SessionOptions = {}): Session<Tools> {
    const { approve } = options;
    const ask =
      approve &&
      ((call: FunctionCall, name: string, given: string) =>
        run(call, () => approve(name, JSON.parse(given))));
    const injected = injectedText(this, options.inject);
    return Session.of(this.native.session(ask ?? null, cancel, injected), this, options);
  }
}

/** One conversation. */
export class Session<Tools extends object = ToolFunctions> {
  /** The types of its tools. */
  declare readonly "~tools"?: Tools;
  readonly #native: InstanceType<typeof native.Session>;
  readonly #options: SessionOptions;
  readonly bound: Bound<Tools>;

  private constructor(session: InstanceType<typeof native.Session>, bound: Bound<Tools>, options: SessionOptions) {
    this.#native = session;
    this.#options = options;
    this.bound = bound;
  }

  /** @internal */
  static of<Tools extends object>(
    session: InstanceType<typeof native.Session>,
    bound: Bound<Tools>,
    options: SessionOptions = {},
  ): Session<Tools> {
    return new Session(session, bound, options);
  }

  /** Checks a call and runs it. */
  async call(name: string, arguments_?: Arguments, options: CallOptions = {}): Promise<Verdict> {
    expectString(name, "name");
    const given = text(arguments_);
    const { callId, finishReason } = expectOptions(options);
    const injected = injectedText(this.bound, options.inject);
    return this.#run(name, options, (number, cancellation) => {
      const details = { callId, finishReason, injected, meta: traceContext(), number };
      return this.#native.call(name, given, details, cancellation);
    });
  }

  /** Begins a call with streamed arguments. */
  begin(name: string, options: Pick<CallOptions, "callId"> = {}): CallStream {
    const { callId } = expectOptions(options);
    const stream = this.#native.begin(expectString(name, "name"), callId);
    return CallStream.of(stream, (options, start) => this.#run(name, { ...options, callId }, start));
  }

  /** Runs a call that a signal cancels. */
  async #run(
    name: string,
    options: CallOptions,
    start: (number: number, cancellation?: InstanceType<typeof native.Cancellation>) => Promise<VerdictText>,
  ): Promise<Verdict> {
    const { signal, callId } = options;
    signal?.throwIfAborted();
    const cancellation = signal && new native.Cancellation();
    const stop = () => cancellation?.cancel();
    signal?.addEventListener("abort", stop, { once: true });
    const { onVerdict } = this.#options;
    const verdict = await traceCall(name, callId, async () => {
      const inject = { ...this.#options.inject, ...options.inject };
      const call: SessionCall = { inject, scope: new AsyncResource("gramc") };
      try {
        const { ok, text } = await withSessionCall(call, (number) => start(number, cancellation));
        signal?.throwIfAborted();
        return Verdict.of(ok, () => text, call.cause);
      } finally {
        signal?.removeEventListener("abort", stop);
      }
    });
    onVerdict?.(verdict);
    return verdict;
  }

  /** Checks a call without running it. It counts towards no limit. */
  validate(name: string, arguments_?: Arguments, options: Pick<CallOptions, "callId"> = {}): Verdict {
    const { callId } = expectOptions(options);
    const given = text(arguments_) ?? "{}";
    const accepted = this.#native.accepts(expectString(name, "name"), given);
    return Verdict.ofCheck(accepted, given, () => this.#native.validate(name, given, callId));
  }

  /** Checks a call that the program runs itself. Refused calls count like those of `call`. */
  check(name: string, arguments_?: Arguments, options: Pick<CallOptions, "callId"> = {}): Verdict {
    const { callId } = expectOptions(options);
    const verdict = this.#native.check(expectString(name, "name"), text(arguments_), callId);
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
