/** Functions as implementations of tools. */

import { createHash } from "node:crypto";

import type { FunctionOutcome } from "./addon.js";

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
): (number: number, text: string) => Promise<FunctionOutcome> {
  return (number, text) => run(number, (signal) => implementation(JSON.parse(text), { signal }));
}

/** @internal Runs a function as the call of a number. It never fails. */
export async function run(
  number: number,
  work: (signal: AbortSignal) => unknown,
): Promise<FunctionOutcome> {
  const controller = new AbortController();
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
    return { result: JSON.stringify(result ?? null, encode) ?? unwritable(typeof result) };
  } catch (error) {
    return { refused: describe(error) };
  }
}

/** @internal A hash of the source text of a function, without that of what it calls. */
export function codeHash(implementation: (...given: never[]) => unknown): string {
  const text = Function.prototype.toString.call(implementation);
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}

/** @internal Aborts a call whose answer is no longer waited for. */
export function cancel(number: number): void {
  running.get(number)?.abort();
}

/** The message of what a function threw, for the model: no stack. */
function describe(error: unknown): string {
  let text = "";
  try {
    text = error instanceof Error ? error.message : String(error);
  } catch {
    // Objects without a prototype have no text.
  }
  return text.trim() || `the function threw ${error instanceof Error ? error.name : typeof error}`;
}

function unwritable(what: string): never {
  throw new TypeError(`a ${what} has no form in JSON`);
}

/** What `JSON.stringify` would change in silence. */
function encode(_: string, value: unknown): unknown {
  if (typeof value === "number" && !Number.isFinite(value)) return unwritable(`number ${value}`);
  if (value instanceof Set) return [...value];
  if (value instanceof Map) return Object.fromEntries(value);
  return value;
}
