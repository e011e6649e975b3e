/**
 * gramc without a native module: for browsers, workers, Deno, Bun and Node.js.
 *
 * @example
 * import { load } from "gramc/web";
 *
 * const gramc = await load();
 * const { text, losses } = gramc.compile("[now:Tool | (zone::Text)==>(::Text)]", { target: "openai" });
 */

/** A specification: its text, or the text with a file name and the texts that it imports. */
export type Source = string | { text: string; name?: string; imports?: Record<string, string> };

/** Lines and columns count from 1, columns in characters; offsets count bytes of UTF-8 from 0. */
export interface Position {
  line: number;
  column: number;
  offset: number;
}

export interface Edit {
  start: Position;
  end: Position;
  text: string;
}

export interface Fix {
  message: string;
  /** A fix that `needs-look` may change the meaning. */
  applicability: "safe" | "needs-look";
  edits: Edit[];
}

export interface Diagnostic {
  path: string;
  start: Position;
  end: Position;
  severity: "error" | "warning" | "info";
  code: string;
  message: string;
  help: string | null;
  labels: { path: string; start: Position; end: Position; message: string }[];
  fixes: Fix[];
}

/** A constraint that a target does not support. */
export interface Loss {
  tool: string;
  /** The path in the original schema, such as `properties.limit.minimum`. */
  path: string;
  constraint: string;
  value: unknown;
  became: string;
  /** How the loss changes the set of accepted values. */
  effect: "wider" | "equal" | "narrower";
  /** The loss as a sentence. */
  message: string;
  [detail: string]: unknown;
}

export interface CompileOptions {
  /** The name of a target, see {@link Gramc.targets}. */
  target: string;
  /** Compiles one tool only. */
  tool?: string;
  /** The type to compile, for targets of structured output. */
  type?: string;
  /** Replaces containers by their tools. */
  expanded?: boolean;
  /** Writes draft 7, for the target `json-schema`. */
  draft7?: boolean;
}

export interface Compiled {
  /** The output of `gramc compile`: JSON or, for some targets, another notation. */
  text: string;
  losses: Loss[];
  /** The limits of the target that the tools exceed. */
  warnings: string[];
}

export interface ImportOptions {
  /** The format: `auto`, `openapi`, or another one of `gramc import --from`. */
  from?: string;
  /** The name of the tool of a bare schema, or of the API. */
  name?: string;
  /** The name of a container for all tools. */
  container?: string;
}

export interface Imported {
  /** The specification in gram. */
  text: string;
  /** The library of an API, in gram. */
  library?: string;
  notes: string[];
  /** The places that stay JSON Schema. */
  verbatim: string[];
  /** The number of schemas that contradict themselves. */
  unsound: number;
}

export interface Change {
  tool: string;
  /** The kind of the change. */
  change: string;
  message: string;
  /** `null` if it is undecided. */
  breaking: boolean | null;
  /** A call that the new version refuses, or a result that is new. */
  witness?: unknown;
  /** Whether the witness is repaired at run time. */
  repaired?: boolean;
  [detail: string]: unknown;
}

export interface Comparison {
  changes: Change[];
  /** The version step that semantic versioning requires. */
  version: "none" | "patch" | "minor" | "major";
  /** The report of `gramc diff`. */
  text: string;
}

export interface ValidateOptions {
  id?: string;
  /** The target that the tools were compiled for, to undo its changes. */
  target?: string;
  /** Whether arguments are repaired. */
  repair?: boolean;
  /** The treatment of undeclared arguments. */
  undeclared?: "strip" | "reject" | "keep" | "schema";
}

export interface Verdict {
  id?: string;
  name: string;
  ok: boolean;
  arguments?: Record<string, unknown>;
  repairs?: { path: string; rule: string; from: unknown; to: unknown }[];
  stripped?: string[];
  warnings?: { code: string; message: string }[];
  error?: { error_type: string; errors?: { property: string; error_code: string; error_message: string }[]; [detail: string]: unknown };
  /** The error for the model. */
  message?: string;
  [detail: string]: unknown;
}

export interface Lowered {
  /** The schema that the provider accepts. */
  schema: any;
  /** The description of the tool, with sentences for constraints of the root that the provider does not support. */
  description: string | null;
  losses: Loss[];
  /** Converts the arguments of a call back to the original schema. */
  restore(this: void, arguments_: unknown): any;
}

export interface Tool {
  name: string;
  description: string | null;
}

export interface Target {
  name: string;
  about: string;
  /** Whether the target compiles one type instead of tools. */
  compilesType: boolean;
}

/** A specification with errors, or another request that cannot be fulfilled. */
export class GramcError extends Error {
  override readonly name = "GramcError";

  constructor(
    message: string,
    /** The diagnostics of a specification with errors. */
    readonly diagnostics: Diagnostic[] = [],
  ) {
    super(message);
  }
}

interface Exports {
  memory: { buffer: ArrayBuffer };
  gramc_input(length: number): number;
  gramc_request(): number;
  gramc_output_length(): number;
}

/** A loaded module. All methods are synchronous and stateless, except for the language server. */
export class Gramc {
  readonly #module: WebAssembly.Module;
  #exports: Exports | undefined;

  /** @internal */
  constructor(module: WebAssembly.Module, instance: WebAssembly.Instance) {
    this.#module = module;
    this.#exports = instance.exports as unknown as Exports;
  }

  /**
   * Runs an operation and returns its result as JSON text, with numbers that JavaScript cannot hold.
   *
   * @throws {GramcError}
   */
  request(operation: string, parameters: object = {}): string {
    const text = this.#answer(JSON.stringify({ operation, ...parameters }));
    const prefix = '{"result":';
    if (text.startsWith(prefix)) return text.slice(prefix.length, -1);
    const { error, diagnostics } = JSON.parse(text);
    throw new GramcError(error, diagnostics);
  }

  #answer(request: string): string {
    const bytes = new TextEncoder().encode(request);
    this.#exports ??= new WebAssembly.Instance(this.#module, {}).exports as unknown as Exports;
    const exports = this.#exports;
    try {
      const at = exports.gramc_input(bytes.length);
      new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
      const output = exports.gramc_request() >>> 0;
      return new TextDecoder().decode(new Uint8Array(exports.memory.buffer, output, exports.gramc_output_length()));
    } catch (cause) {
      // The memory may be in any state.
      this.#exports = undefined;
      throw new Error("internal error of gramc, or the text is nested too deeply", { cause });
    }
  }

  #run(operation: string, parameters?: object): any {
    return JSON.parse(this.request(operation, parameters));
  }

  /** Checks and lints a specification. `project` is the text of a `gram.toml`. */
  check(source: Source, project = ""): Diagnostic[] {
    return this.#run("check", { source: sourceOf(source), project });
  }

  /**
   * Formats a text.
   *
   * @throws {GramcError} if the text has syntax errors
   */
  format(text: string, options: { width?: number } = {}): string {
    return this.#run("format", { text, width: options.width });
  }

  /**
   * Compiles a specification to a target.
   *
   * @throws {GramcError} if the specification has errors
   */
  compile(source: Source, options: CompileOptions): Compiled {
    return this.#run("compile", { source: sourceOf(source), ...options });
  }

  /**
   * Imports JSON Schemas, tools of a provider or an MCP server, or the description of an API.
   *
   * @throws {GramcError} if the text is none of these
   */
  import(text: string, options: ImportOptions = {}): Imported {
    return this.#run("import", { text, ...options });
  }

  /**
   * Compares two versions of a specification.
   *
   * @throws {GramcError} if one of them has errors
   */
  diff(old: Source, new_: Source): Comparison {
    return this.#run("diff", { old: sourceOf(old), new: sourceOf(new_) });
  }

  /**
   * Checks a call without running it. `arguments_` is the text that the model wrote, or an object.
   *
   * @throws {GramcError} if the specification has errors
   */
  validate(source: Source, name: string, arguments_?: string | object, options: ValidateOptions = {}): Verdict {
    const text = typeof arguments_ === "object" ? JSON.stringify(arguments_) : arguments_;
    return this.#run("validate", { source: sourceOf(source), name, arguments: text, ...options });
  }

  /** Lowers a JSON Schema of parameters or, for a target of structured output, of an answer. */
  lower(schema: object | boolean, provider: string, options: { description?: string } = {}): Lowered {
    const parameters = { schema, provider, description: options.description };
    const { restores, ...lowered } = this.#run("lower", parameters);
    const restore = (arguments_: unknown) =>
      restores ? this.#run("restore", { ...parameters, arguments: arguments_ }) : arguments_;
    return { ...lowered, restore };
  }

  /**
   * Lists the tools.
   *
   * @throws {GramcError} if the specification has errors
   */
  tools(source: Source): Tool[] {
    return this.#run("tools", { source: sourceOf(source) });
  }

  /**
   * Finds arguments that a tool accepts, with the examples and defaults of its parameters.
   *
   * @throws {GramcError} if the specification has errors, or no such tool
   */
  example(source: Source, tool: string): Record<string, unknown> | null {
    return this.#run("example", { source: sourceOf(source), tool });
  }

  /** Returns the page about the code of a diagnostic or about a target, in Markdown. */
  explain(code: string): string {
    return this.#run("explain", { code });
  }

  /** Lists the targets. */
  targets(): Target[] {
    return this.#run("targets");
  }

  /**
   * Passes a message to the language server, as in the Language Server Protocol, and returns its
   * messages. A loaded module has one server.
   */
  languageServer(message: object): any[] {
    return this.#run("lsp", { message });
  }
}

function sourceOf(source: Source): object {
  return typeof source === "string" ? { text: source } : source;
}

/**
 * Loads the module. Without an argument, it is the file `gramc.wasm` next to this one. Platforms that
 * cannot load files, such as Cloudflare Workers, pass the imported module.
 */
export async function load(source?: WebAssembly.Module | ArrayBuffer | Uint8Array<ArrayBuffer> | Response | URL | string): Promise<Gramc> {
  const given = source ?? new URL("./gramc.wasm", import.meta.url);
  const module = given instanceof WebAssembly.Module ? given : await compile(given);
  return new Gramc(module, await WebAssembly.instantiate(module, {}));
}

async function compile(source: ArrayBuffer | Uint8Array<ArrayBuffer> | Response | URL | string): Promise<WebAssembly.Module> {
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  let response = source;
  if (!(response instanceof Response)) {
    const url = new URL(response, import.meta.url);
    const runtime = globalThis as { process?: { getBuiltinModule?: (name: string) => any } };
    const files = url.protocol === "file:" && runtime.process?.getBuiltinModule?.("node:fs/promises");
    if (files) return WebAssembly.compile(await files.readFile(url));
    response = await fetch(url);
  }
  if (!response.ok) throw new Error(`cannot load ${response.url}: status ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
}
