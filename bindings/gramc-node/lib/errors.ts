/** Exceptions. */

/** A diagnostic, as `gramc check --format json` prints it. */
export interface Diagnostic {
  code: string;
  severity: string;
  message: string;
  path: string;
  start: { line: number; column: number };
  help?: string;
  [key: string]: unknown;
}

/** A problem of a library. */
export interface Gap {
  /** The tool, if it concerns one. */
  tool: string | null;
  message: string;
}

/** A specification or library has errors. */
export class SpecError extends Error {
  override readonly name = "SpecError";

  /** What `gramc check --format json` prints. */
  readonly diagnostics: Diagnostic[];

  constructor(diagnostics: Diagnostic[]) {
    super(diagnostics.map(line).join("\n"));
    this.diagnostics = diagnostics;
  }
}

/** A library does not fit a specification. */
export class BindError extends Error {
  override readonly name = "BindError";

  /** All problems. */
  readonly gaps: Gap[];

  constructor(gaps: Gap[]) {
    super(gaps.map((gap) => gap.message).join("\n"));
    this.gaps = gaps;
  }

  /** The gaps, with the key `severity` of `gramc bind --format json`. */
  get diagnostics(): (Gap & { severity: "error" })[] {
    return this.gaps.map((gap) => ({ severity: "error", ...gap }));
  }
}

function line({ path, start, severity, code, message, help }: Diagnostic): string {
  const text = `${path}:${start.line}:${start.column}: ${severity}[${code}]: ${message}`;
  return help ? `${text}\n  help: ${help}` : text;
}

/** An experiment cannot run, or no run could be counted. */
export class ExperimentError extends Error {
  override readonly name = "ExperimentError";
}

/** @internal */
export function expectString(value: unknown, name: string): string {
  if (typeof value === "string") return value;
  throw new TypeError(`expected a string as \`${name}\`, found ${value === null ? "null" : typeof value}`);
}

/** @internal Does work of the native part, whose errors are those of this package. */
export function attempt<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof Error && "code" in error) {
      if (error.code === "SpecError") throw new SpecError(JSON.parse(error.message));
      if (error.code === "BindError") throw new BindError(JSON.parse(error.message));
    }
    throw error;
  }
}
