/** Functions as implementations of tools. */

import type { AsyncResource } from "node:async_hooks";
import { createHash } from "node:crypto";

import type { FunctionCall, FunctionOutcome } from "./addon.js";

/** What a function can use apart from its arguments. */
export interface ToolContext {
  /** Aborted when the call is cancelled or takes too long. */
  signal: AbortSignal;
  /** The values of `inject` of the session and the call, by name. Reading another name throws. */
  inject: Record<string, any>;
}

/** The tools of a specification as functions by name, such as the generated `Handlers`. */
export type ToolFunctions = Record<string, (arguments_: any) => unknown>;

/** A function that implements a tool of a type. */
export type Implementation<F> = F extends (arguments_: infer A) => infer R
  ? (arguments_: A, context: ToolContext) => R | Awaited<R>
  : ToolFunction;

/** A call of a session that runs, as its functions see it. */
export interface SessionCall {
  inject: Record<string, unknown>;
  /** The asynchronous context of the caller. */
  scope: AsyncResource;
  /** The exception of a function. */
  cause?: { error: unknown };
}

/**
 * A function that implements a tool. It gets the arguments as an object, and returns what
 * `JSON.stringify` takes, or a promise of it.
 */
export type ToolFunction = (arguments_: any, context: ToolContext) => unknown;

/** The text for the model about an exception of a function. */
export type ErrorText = (error: unknown) => string;

/** The functions that run, by number. */
const running = new Map<number, AbortController>();

/** The calls of sessions that run, by number. */
const sessionCalls = new Map<number, SessionCall>();
let lastCall = 0;

/** @internal Runs a call of a session, with a number for the native part. */
export async function withSessionCall<T>(call: SessionCall, work: (number: number) => Promise<T>): Promise<T> {
  // It crosses as 32 bits.
  const number = (lastCall = (lastCall + 1) >>> 0);
  sessionCalls.set(number, call);
  try {
    return await work(number);
  } finally {
    sessionCalls.delete(number);
  }
}

/** Values by name. Reading a missing one throws instead of returning `undefined`. */
function injectedValues(values: Record<string, unknown>, tool: string): Record<string, unknown> {
  return new Proxy(values, {
    get(target, name) {
      if (typeof name === "symbol" || name in target) return Reflect.get(target, name);
      throw new TypeError(`\`${name}\` of \`${tool}\` has no value: pass it in \`inject\` of the session or the call`);
    },
  });
}

/** @internal The function of a tool for the native part. */
export function starter(
  tool: string,
  implementation: ToolFunction,
  errorText: ErrorText = describe,
): (call: FunctionCall, text: string) => Promise<FunctionOutcome> {
  return (call, text) => {
    const work = (signal: AbortSignal, own: SessionCall | undefined) => {
      const inject = injectedValues(own?.inject ?? {}, tool);
      return implementation(JSON.parse(text), { signal, inject });
    };
    return run(call, work, errorText);
  };
}

/** @internal Runs a function. It never fails. */
export async function run(
  call: FunctionCall,
  work: (signal: AbortSignal, own: SessionCall | undefined) => unknown,
  errorText: ErrorText = describe,
): Promise<FunctionOutcome> {
  if (call.isCancelled) return { error: "the call was cancelled" };
  const controller = new AbortController();
  const { number, sessionCall } = call;
  const own = sessionCall === null ? undefined : sessionCalls.get(sessionCall);
  running.set(number, controller);
  let result;
  try {
    const { signal } = controller;
    result = await (own ? own.scope.runInAsyncScope(work, undefined, signal, own) : work(signal, own));
  } catch (error) {
    if (own) own.cause = { error };
    return { error: textOf(error, errorText) };
  } finally {
    running.delete(number);
  }
  try {
    return { result: JSON.stringify(result ?? null, encode) ?? unwritable(`a ${typeof result}`) };
  } catch (error) {
    return { refused: error instanceof Error ? error.message : describe(error) };
  }
}

/**
 * @internal A hash of the source text of a function, without that of what it calls. Bound functions, and
 * those that are not written in JavaScript, have none.
 */
export function codeHash(implementation: (...given: never[]) => unknown): string | undefined {
  const text = Function.prototype.toString.call(implementation);
  if (text.endsWith("{ [native code] }")) return undefined;
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** @internal Aborts a call whose answer is no longer waited for. */
export function cancel(number: number): void {
  running.get(number)?.abort();
}

/** The text of the host about an exception. */
function textOf(error: unknown, errorText: ErrorText): string {
  try {
    return String(errorText(error));
  } catch (failure) {
    return describe(failure);
  }
}

/** The type and the message of an exception, for the model: no stack. */
function describe(error: unknown): string {
  try {
    const isError = error instanceof Error;
    const text = String(isError ? (error.message ?? "") : error).trim();
    if (!text) return `the function threw ${isError ? error.name : typeof error}`;
    return isError && error.name !== "Error" ? `${error.name}: ${text}` : text;
  } catch {
    // Objects without a prototype have no text.
    return `the function threw ${typeof error}`;
  }
}

function unwritable(what: string): never {
  throw new TypeError(`${what} has no form in JSON`);
}

/** What `JSON.stringify` would change in silence. */
function encode(this: unknown, key: string, value: unknown): unknown {
  switch (typeof value) {
    case "number":
      return Number.isFinite(value) ? value : unwritable(`the number ${value}`);
    case "string":
      return value.isWellFormed() ? value : unwritable("a text with half of a surrogate pair");
    case "function":
    case "symbol":
      return unwritable(`a ${typeof value}`);
    case "object":
      break;
    default:
      return value;
  }
  if ((this as Record<string, unknown>)[key] instanceof Date) return value ?? unwritable("an invalid date");
  if (value instanceof Promise) return unwritable("a promise");
  if (value instanceof Set) return [...value];
  if (value instanceof Map) {
    const isName = (name: unknown) => typeof name === "string" || typeof name === "number";
    return [...value.keys()].every(isName) ? Object.fromEntries(value) : unwritable("a map whose keys are no texts");
  }
  return value;
}
