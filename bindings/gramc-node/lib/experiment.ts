/** Experiments. */

import { ExperimentError } from "./errors.js";
import { cancel, codeHash, run, type ToolContext } from "./functions.js";
import { native } from "./native.js";
import { Bound, Session } from "./session.js";

/** The answer of an agent that is more than a text. */
export interface AgentAnswer {
  output?: unknown;
  /** Why there is no answer, such as a provider that is busy. The run is not counted. */
  error?: string;
  model?: string;
  usage?: { input_tokens?: number; output_tokens?: number; requests?: number };
}

/** Answers a message of the user, with calls through the session. */
export type Agent = (
  session: Session,
  message: string,
  context: Pick<ToolContext, "signal">,
) => string | AgentAnswer | Promise<string | AgentAnswer>;

/** What to compare, and how. */
export interface ExperimentOptions {
  agent: Agent;
  /** Bound libraries by name. All are compared with the first one. */
  arms: Record<string, Bound<any>>;
  /** The path of a file, or cases. A text is a case with this input. */
  cases: string | Iterable<string | object>;
  name?: string;
  /** Runs for each case and arm. */
  repeats?: number;
  /** Seed of the order of the runs. */
  seed?: number;
  /** Number of runs in parallel. */
  concurrency?: number;
  /** Maximum runs started per second. */
  rate?: number;
  /** Maximum milliseconds of a turn. */
  timeLimit?: number;
  /** No run starts beyond these totals. */
  maxCost?: number;
  maxTokens?: number;
  /** No run starts after so many milliseconds. */
  maxTime?: number;
  /** Smallest success difference that matters, in percentage points. */
  margin?: number;
  /** Outcome that decides. */
  primary?: string;
  /** Whether to stop when the result is clear. */
  sequential?: boolean;
  /** Model of judges and simulated users that name none. */
  judge?: string;
  /** Model that the agent uses. */
  model?: string;
  /** Identifies what the source text of the agent does not show. */
  version?: string;
  /** Folder for runs and reports. The same call continues an interrupted experiment. */
  report?: string;
  /** The part to run, such as `3/16`. */
  shard?: string;
  /** Whether to show the progress on standard error if that is a terminal. */
  progress?: boolean;
  /** Cancels the experiment. Finished runs stay in the folder. */
  signal?: AbortSignal;
}

/** The report of an experiment. */
export class Report {
  readonly #native: InstanceType<typeof native.Report>;

  private constructor(report: InstanceType<typeof native.Report>) {
    this.#native = report;
  }

  /** @internal */
  static of(report: InstanceType<typeof native.Report>): Report {
    return new Report(report);
  }

  /** What `gramc ab` prints. */
  get text(): string {
    return this.#native.text;
  }

  /** Whether the experiment proves a condition, such as `success >= -1pp`. */
  gate(condition: string): boolean {
    try {
      return this.#native.gateFailures(condition).length === 0;
    } catch (error) {
      return fail(error as Error);
    }
  }

  /** The content of `report.json`. */
  toJSON(): any {
    return JSON.parse(this.#native.json());
  }

  /** What `gramc ab` prints. */
  toString(): string {
    return this.text;
  }
}

/**
 * Runs an agent on the same cases with several libraries, and compares the results.
 *
 * @throws {ExperimentError} if the experiment cannot run, or if no run could be counted
 */
export async function experiment(options: ExperimentOptions): Promise<Report> {
  check(options);
  const { agent, arms, cases, signal, timeLimit, maxTime, version, ...others } = options;
  const code = codeHash(agent);
  if (!code && others.report && !version) {
    const why = "the source text of the agent is not known, as it is a bound function";
    throw new ExperimentError(`${why}: set \`version\``);
  }
  const seconds = (milliseconds?: number) => milliseconds && milliseconds / 1000;
  const { maxCost: max_cost, maxTokens: max_tokens, ...rest } = others;
  const settings = {
    ...rest,
    max_cost,
    max_tokens,
    time_limit: seconds(timeLimit),
    max_time: seconds(maxTime),
    agent_version: [code, version].filter(Boolean).join(", "),
  };
  const bound = Object.values(arms);
  const sessions = new Map<number, Session>();
  const started = new native.Experiment(
    agent.name || "agent",
    (call, conversation, arm, session, message) => {
      return run(call, (aborted) => {
        const known = sessions.get(conversation) ?? Session.of(session, bound[arm]!);
        sessions.set(conversation, known);
        return agent(known, message, { signal: aborted });
      });
    },
    cancel,
    (conversation) => void sessions.delete(conversation),
  );
  for (const [name, arm] of Object.entries(arms)) {
    started.addArm(name, arm.native, arm.specification.native);
  }
  const isPath = typeof cases === "string";
  const lines = isPath ? undefined : Array.from(cases, line).join("");
  const path = isPath ? cases : undefined;

  signal?.throwIfAborted();
  const cancellation = new native.Cancellation();
  const stop = () => cancellation.cancel();
  signal?.addEventListener("abort", stop, { once: true });
  try {
    return Report.of(await started.run(path, lines, JSON.stringify(settings), cancellation));
  } catch (error) {
    signal?.throwIfAborted();
    return fail(error as Error);
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

const KINDS: Record<string, "a number above 0" | "a string" | "a whole number" | "true or false"> = {
  concurrency: "a whole number",
  judge: "a string",
  margin: "a number above 0",
  maxCost: "a number above 0",
  maxTime: "a number above 0",
  maxTokens: "a whole number",
  model: "a string",
  name: "a string",
  primary: "a string",
  progress: "true or false",
  rate: "a number above 0",
  repeats: "a whole number",
  report: "a string",
  seed: "a whole number",
  sequential: "true or false",
  shard: "a string",
  timeLimit: "a number above 0",
  version: "a string",
};

/** Checks the types of options. */
function check({ agent, arms, cases, signal, ...others }: ExperimentOptions): void {
  const expect = (holds: boolean, wanted: string, name: string) => {
    if (!holds) throw new ExperimentError(`expected ${wanted} as \`${name}\``);
  };
  expect(typeof agent === "function", "a function", "agent");
  expect(typeof arms === "object" && arms !== null, "bound libraries by name", "arms");
  for (const [name, arm] of Object.entries(arms)) {
    expect(arm instanceof Bound, "a bound library", `arms.${name}`);
    // JavaScript lists such names first, whatever their order is.
    expect(!/^\d+$/.test(name), "a name that is no number", `arms.${name}`);
  }
  expect(cases != null && Symbol.iterator in Object(cases), "a path or a list", "cases");
  expect(!signal || signal instanceof AbortSignal, "an AbortSignal", "signal");
  for (const [name, value] of Object.entries(others)) {
    const kind = KINDS[name];
    if (!kind) {
      const known = ["agent", "arms", "cases", "signal", ...Object.keys(KINDS)].sort().join(", ");
      throw new ExperimentError(`unknown option \`${name}\`; expected one of ${known}`);
    }
    if (value !== undefined) expect(isOfKind(value, kind), kind, name);
  }
}

function isOfKind(value: unknown, kind: string): boolean {
  switch (kind) {
    case "a string":
      return typeof value === "string";
    case "true or false":
      return typeof value === "boolean";
    case "a number above 0":
      return typeof value === "number" && Number.isFinite(value) && value > 0;
    default:
      return Number.isSafeInteger(value) && (value as number) >= 0;
  }
}

/** The error of the native part, with names as options have them. */
function fail(error: Error): never {
  const camelCase = (name: string) => name.replace(/_[a-z]/g, (part) => part[1]!.toUpperCase());
  throw new ExperimentError(error.message.replace(/`[a-z_]+`/g, camelCase));
}

/** A case as a line of JSON. */
function line(given: string | object): string {
  return `${JSON.stringify(typeof given === "string" ? { input: given } : given)}\n`;
}
