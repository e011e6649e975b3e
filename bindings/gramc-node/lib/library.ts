/** Libraries of functions. */

import { attempt, expectString } from "./errors.js";
import { cancel, codeHash, starter } from "./functions.js";
import type { ErrorText, Implementation, ToolFunction, ToolFunctions } from "./functions.js";
import { native } from "./native.js";
import type { Bound } from "./session.js";
import type { Specification } from "./specification.js";
import { Tool, parsed, schemaOf, type ParameterSchema } from "./tool.js";

/** Settings of a library or a tool: attributes of gram. */
export interface Settings {
  /** Which calls have to be approved. */
  approval?: "always" | "destructive" | "never";
  allToolsCalls?: number;
  allToolsWindow?: string;
  autoExpand?: boolean;
  /** Maximum number of calls of a tool at the same time, 0 for no limit. */
  concurrency?: number;
  correctNames?: boolean;
  expand?: "conversation" | "turn";
  /** Refused calls in a row after which a human review is required, 0 for never. */
  maxAttempts?: number;
  maxConsecutiveFailures?: number;
  maxOutput?: number | string;
  maxResponse?: number | string;
  repair?: boolean;
  sameToolCalls?: number;
  sameToolWindow?: string;
  /** Whether a result of the wrong type is an error instead of a warning. */
  strictResult?: boolean;
  throttle?: "off" | "repeats" | "strict";
  /** Milliseconds, or text such as `"5s"`, until a call fails. */
  timeout?: number | string;
  undeclared?: "keep" | "reject" | "schema" | "strip";
}

/** Settings of a library. */
export interface LibraryOptions extends Settings {
  /** The text for the model about an exception of a function, instead of its type and message. */
  errorText?: ErrorText;
}

/** Settings of a tool, and more about its function. */
export interface ToolOptions extends Settings {
  /** Values of injected parameters. They appear in no schema, and secret ones in no message. */
  inject?: Record<string, unknown>;
  /** What the function accepts, which `bind` compares with the tool. */
  parameters?: ParameterSchema;
}

const SETTINGS = new Set(native.settingNames());

/** Settings as attributes of gram. */
function attributes(settings: Settings): string {
  for (const name of Object.keys(settings)) {
    if (!SETTINGS.has(name)) {
      const known = [...SETTINGS].sort().join(", ");
      throw new TypeError(`unknown setting \`${name}\`; expected one of ${known}`);
    }
  }
  const { timeout } = settings;
  const isNumber = typeof timeout === "number";
  // 0 is no limit.
  const milliseconds = isNumber && timeout > 0 ? Math.max(1, Math.round(timeout)) : timeout;
  const text = JSON.stringify(isNumber ? { ...settings, timeout: `${milliseconds}ms` } : settings);
  const fault = native.settingFault(text);
  if (!fault) return text;
  const [name, expected] = fault;
  throw new TypeError(`\`${name}\` expects ${name === "timeout" ? "milliseconds, or " : ""}${expected}`);
}

/**
 * Functions that implement tools. `Tools` are the types of the tools, such as the generated `Handlers`;
 * without it, all names and arguments are accepted.
 */
export class ToolLibrary<Tools extends object = ToolFunctions> {
  /** The types of its tools. */
  declare readonly "~tools"?: Tools;
  readonly name: string;
  /** @internal */
  readonly native: InstanceType<typeof native.Library>;
  /** @internal */
  readonly errorText: ErrorText | undefined;

  /** Settings are for all tools that are added. */
  constructor(name: string, options: LibraryOptions = {}) {
    const { errorText, ...settings } = options;
    this.name = expectString(name, "name");
    this.errorText = errorText;
    this.native = new native.Library(name, attributes(settings));
  }

  /**
   * Reads a library that a file in gram declares. `name` chooses one of several. Functions can be added
   * to it.
   *
   * @throws {SpecError} if the file has errors
   */
  static load(path: string, name?: string): ToolLibrary {
    const library = Object.create(ToolLibrary.prototype) as ToolLibrary;
    expectString(path, "path");
    const loaded = attempt(() => native.Library.load(path, name));
    return Object.assign(library, { name: name ?? path, native: loaded });
  }

  /** Adds the function that implements a tool. */
  tool<Name extends keyof Tools & string>(
    name: Name,
    implementation: Implementation<Tools[Name]>,
    options?: ToolOptions,
  ): this;
  tool(tool: Tool, options?: ToolOptions): this;
  tool(first: string | Tool, ...rest: [(ToolFunction | ToolOptions)?, ToolOptions?]): this {
    if (first instanceof Tool) {
      const { name, execute, parameters } = first.definition;
      return this.add(name, execute, { parameters, ...(rest[0] as ToolOptions) });
    }
    return this.add(first, rest[0] as ToolFunction, rest[1] ?? {});
  }

  private add(name: string, implementation: ToolFunction, options: ToolOptions): this {
    expectString(name, "name");
    if (typeof implementation !== "function") {
      throw new TypeError(`the implementation of \`${name}\` is not a function`);
    }
    const { inject = {}, parameters, ...settings } = options;
    const code = codeHash(implementation);
    const start = starter(name, parameters ? parsed(parameters, implementation) : implementation, this.errorText);
    this.native.add(name, start, cancel, {
      ...(code && { code }),
      ...(parameters && { parameters: JSON.stringify(schemaOf(parameters)) }),
      attributes: attributes(settings),
      injected: JSON.stringify(inject),
    });
    return this;
  }

  /**
   * Starts the MCP servers of the library. `bind` waits for those that have not been started, which blocks
   * the event loop.
   */
  connect(): Promise<void> {
    return this.native.connect();
  }

  /** Binds the library, as `specification.bind(library)` does. */
  bind(specification: Specification): Bound<Tools> {
    return specification.bind(this);
  }
}
