/** Verdicts. */

/** What was repaired in the arguments. */
export interface Repair {
  path: string;
  rule: string;
  from: unknown;
  to: unknown;
}

/** A warning about a call. */
export interface Warning {
  code: string;
  message: string;
}

/** A problem of the arguments. */
export interface CallProblem {
  pointer: string;
  property: string;
  error_code: string;
  error_message: string;
  [key: string]: unknown;
}

/** The error of a failed call. */
export interface VerdictError {
  error_type: string;
  errors?: CallProblem[];
  /** The exception of the function. It is not part of the JSON. */
  cause?: unknown;
  [key: string]: unknown;
}

interface VerdictData {
  id?: string;
  name: string;
  ok: boolean;
  arguments?: Record<string, unknown>;
  repairs?: Repair[];
  stripped?: string[];
  warnings?: Warning[];
  result?: unknown;
  error?: VerdictError;
  [key: string]: unknown;
}

/** What came of a call. */
export class Verdict {
  /** Whether the call succeeded. */
  readonly ok: boolean;

  readonly #text: () => string;
  readonly #cause: { error: unknown } | undefined;
  #arguments: string | Record<string, unknown> | undefined;
  #parts: [json: string, message: string] | undefined;
  #data: VerdictData | undefined;

  private constructor(ok: boolean, text: () => string, cause?: { error: unknown }) {
    this.ok = ok;
    this.#text = text;
    this.#cause = cause;
  }

  /**
   * @internal The text is the JSON of the command line in a line, and after it the text for the model. It
   * is made when the first part of it is read.
   */
  static of(ok: boolean, text: () => string, cause?: { error: unknown }): Verdict {
    return new Verdict(ok, text, cause);
  }

  /**
   * @internal The verdict on a call that does not run. Most programs read only the arguments: `given` if they
   * are unchanged, otherwise the text of `accepted`.
   */
  static ofCheck(accepted: boolean | string, given: string, text: () => string): Verdict {
    const verdict = new Verdict(accepted !== false, text);
    if (accepted !== false) verdict.#arguments = accepted === true ? given : accepted;
    return verdict;
  }

  get #split(): [json: string, message: string] {
    if (this.#parts) return this.#parts;
    const text = this.#text();
    const end = text.indexOf("\n");
    return (this.#parts = [text.slice(0, end), text.slice(end + 1)]);
  }

  get #read(): VerdictData {
    if (this.#data) return this.#data;
    const data = JSON.parse(this.#split[0]) as VerdictData;
    const cause = data.error && this.#cause;
    if (cause) Object.defineProperty(data.error, "cause", { value: cause.error });
    return (this.#data = data);
  }

  /** The text for the model: the result, or the error and what to do. */
  get message(): string {
    return this.#split[1];
  }

  /** The name that was called. */
  get name(): string {
    return this.#read.name;
  }

  /** The identifier of the call. */
  get id(): string | undefined {
    return this.#read.id;
  }

  /** The result of the tool; `undefined` for a failed call. */
  get result(): unknown {
    return this.ok ? this.#read.result : undefined;
  }

  /** The arguments after the check; `undefined` if they were refused. */
  get arguments(): Record<string, unknown> | undefined {
    if (typeof this.#arguments !== "string") return this.#arguments ?? this.#read.arguments;
    return (this.#arguments = JSON.parse(this.#arguments) as Record<string, unknown>);
  }

  /** What was repaired in the arguments. */
  get repairs(): Repair[] {
    return this.#read.repairs ?? [];
  }

  /** The undeclared parameters that were removed. */
  get stripped(): string[] {
    return this.#read.stripped ?? [];
  }

  /** Warnings about the call. */
  get warnings(): Warning[] {
    return this.#read.warnings ?? [];
  }

  /** The error of a failed call. */
  get error(): VerdictError | undefined {
    return this.#read.error;
  }

  /** The type of the error, such as `validation_error`. */
  get errorType(): string | undefined {
    return this.error?.error_type;
  }

  /** The problems of the arguments, one by one. */
  get errors(): CallProblem[] {
    return this.error?.errors ?? [];
  }

  /** The JSON of the command line, byte for byte. */
  toString(): string {
    return this.#split[0];
  }

  /**
   * The JSON of the command line, for `JSON.stringify`. From Node 22 on, numbers are those of the text,
   * even those that JavaScript cannot hold.
   */
  toJSON(): unknown {
    return JSON.parse(this.#split[0], exactNumber);
  }

  /** What `console.log` shows. */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return `<Verdict of ${JSON.stringify(this.name)}: ${this.errorType ?? "ok"}>`;
  }
}

const { rawJSON } = JSON as typeof JSON & { rawJSON?: (text: string) => unknown };

function exactNumber(_: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source;
  const isExact = typeof value !== "number" || !rawJSON || !source || String(value) === source;
  return isExact ? value : rawJSON(source);
}
