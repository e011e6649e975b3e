/** The check of the calls that a framework runs. */

import { ToolLibrary, type Settings } from "../library.js";
import { native } from "../native.js";
import { text, type Arguments, type Bound, type Session } from "../session.js";
import { loads } from "../specification.js";
import { recordCheck } from "../telemetry.js";
import type { Verdict } from "../verdict.js";

/** Options of `guard`, and settings of the check, such as `maxAttempts`. */
export interface GuardOptions extends Settings {
  /**
   * Called with the verdict on each call, before the call runs or is refused: `verdict.arguments`,
   * `repairs` and `stripped` of an accepted call, `verdict.message` of a refused one.
   */
  onVerdict?: (verdict: Verdict) => void;
}

/** A tool, as its framework describes it to the model. */
export interface ToolDescription {
  name: string;
  description?: string | undefined;
  inputSchema: object;
}

/** A refused call. The message is for the model. */
export class CallRefused extends Error {
  override readonly name = "CallRefused";
  readonly verdict: Verdict;

  constructor(verdict: Verdict) {
    super(verdict.message);
    this.verdict = verdict;
  }
}

/** The maximum number of tools that are kept. */
const MAX_TOOLS = 1_000;

/** The tools by their description, as programs often create the tools of each request anew. */
const tools = new Map<string, Bound | undefined>();

function bind(tool: ToolDescription, settings: Settings): Bound | undefined {
  const key = JSON.stringify([tool.name, tool.description, tool.inputSchema, settings]);
  if (tools.has(key)) return tools.get(key);
  let bound: Bound | undefined;
  try {
    const { name, description } = tool;
    // Frameworks close schemas that only describe fields, and drop other arguments themselves.
    const { additionalProperties: others, ...schema } = tool.inputSchema as Record<string, unknown>;
    const inputSchema = others === false ? schema : tool.inputSchema;
    const { text } = native.importTools(JSON.stringify({ name, description, inputSchema }));
    const specification = loads(text, `${name}.gram`);
    const library = new ToolLibrary(name, settings);
    for (const own of specification.names) library.tool(own, () => null);
    bound = specification.bind(library);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    process.emitWarning(`the calls of \`${tool.name}\` are not checked: ${cause}`, "GramcWarning");
  }
  const [oldest] = tools.keys();
  if (tools.size >= MAX_TOOLS && oldest !== undefined) tools.delete(oldest);
  tools.set(key, bound);
  return bound;
}

/** A call of a tool, as far as its framework knows more about it. */
export interface CheckedCall {
  callId?: string | undefined;
  run: object;
  reply?: unknown;
}

/** Checks the calls of a tool. */
export class ToolCheck {
  readonly #bound: Bound;
  readonly #session: Session;
  readonly #name: string;
  readonly #runs = new WeakMap<object, { session: Session; reply: unknown }>();
  readonly #options: GuardOptions;

  private constructor(bound: Bound, options: GuardOptions) {
    this.#bound = bound;
    this.#session = bound.session();
    this.#name = bound.specification.names[0] ?? "";
    this.#options = options;
  }

  /** `undefined` if the schema of the tool cannot be imported, with a warning. */
  static of(tool: ToolDescription, options: GuardOptions): ToolCheck | undefined {
    const { onVerdict: _, ...settings } = options;
    const bound = bind(tool, settings);
    return bound && new ToolCheck(bound, options);
  }

  /** Checks a call without counting it. */
  validate(arguments_: unknown): Verdict {
    return this.#session.validate(this.#name, text(arguments_ as Arguments | undefined));
  }

  /** Tells the program about a verdict. */
  report(verdict: Verdict): void {
    recordCheck(verdict);
    this.#options.onVerdict?.(verdict);
  }

  /**
   * Checks a call. `run` is an object of the run or the conversation: its refused calls are counted, so
   * that the model gets no unlimited attempts. Those of one `reply` of the model count as one.
   */
  check(arguments_: unknown, { callId, run, reply }: CheckedCall): Verdict {
    const given = text(arguments_ as Arguments | undefined);
    const verdict = this.#sessionOf(run, reply).check(this.#name, given, { callId });
    this.report(verdict);
    return verdict;
  }

  #sessionOf(run: object, reply: unknown): Session {
    let known = this.#runs.get(run);
    if (!known) this.#runs.set(run, (known = { session: this.#bound.session(), reply: undefined }));
    if (reply !== known.reply) known.session.beginReply();
    known.reply = reply;
    return known.session;
  }
}

/** A copy of an object with other properties. */
export function changed<T extends object>(object: T, changes: object): T {
  const properties = { ...Object.getOwnPropertyDescriptors(object), ...Object.getOwnPropertyDescriptors(changes) };
  return Object.create(Object.getPrototypeOf(object), properties) as T;
}
