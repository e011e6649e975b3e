/** Functions as implementations of tools. */

import { createHash } from "node:crypto";

import type { FunctionCall, FunctionOutcome } from "./addon.js";

/** What a function can use apart from its arguments. */
export interface ToolContext {
  /** Aborted when the call is cancelled or takes too long. */
  signal: AbortSignal;
}

/**
 * A function that implements a tool. It gets the arguments as an object, and returns what
 * `JSON.stringify` takes, or a promise of it.
 */
export type ToolFunction = (arguments_: any, context: ToolContext) => unknown;

/** The calls that run, by number. */
const running = new Map<number, AbortController>();

/** @internal The function of a tool for the native part. */
export function starter(
  implementation: ToolFunction,
): (call: FunctionCall, text: string) => Promise<FunctionOutcome> {
  return (call, text) => run(call, (signal) => implementation(JSON.parse(text), { signal }));
}

/** @internal Runs a function. It never fails. */
export async function run(
  call: FunctionCall,
  work: (signal: AbortSignal) => unknown,
): Promise<FunctionOutcome> {
  if (call.isCancelled) return { error: "the call was cancelled" };
  const controller = new AbortController();
  const { number } = call;
  running.set(number, controller);
  let result;
  try {
    result = await work(controller.signal);
  } catch (error) {
    return { error: describe(error) };
  } finally {
    running.delete(number);
  }
  try {
    return { result: JSON.stringify(result ?? null, encode) ?? unwritable(`a ${typeof result}`) };
  } catch (error) {
    return { refused: describe(error) };
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

/** The message of what a function threw, for the model: no stack. */
function describe(error: unknown): string {
  try {
    const isError = error instanceof Error;
    const text = String(isError ? (error.message ?? "") : error).trim();
    return text || `the function threw ${isError ? error.name : typeof error}`;
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
