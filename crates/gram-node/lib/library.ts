/** Libraries of functions. */

import { attempt } from "./errors.js";
import { cancel, codeHash, starter, type ToolFunction } from "./functions.js";
import { native } from "./native.js";
import type { Bound } from "./session.js";
import type { Specification } from "./specification.js";
import { Tool, schemaOf, type ParameterSchema } from "./tool.js";

/** Settings of a library or a tool: attributes of gram. */
export interface Settings {
  /** Which calls have to be approved. */
  approval?: "always" | "destructive" | "never";
  autoExpand?: boolean;
  callsPerMinute?: number;
  /** Maximum number of calls of a tool at the same time, 0 for no limit. */
  concurrency?: number;
  correctNames?: boolean;
  expand?: string;
  /** Refused calls in a row after which a human review is required, 0 for never. */
  maxAttempts?: number;
  maxOutput?: number | string;
  maxResponse?: number | string;
  repair?: boolean;
  /** Whether a result of the wrong type is an error instead of a warning. */
  strictResult?: boolean;
  throttle?: "agent" | "off" | "server";
  /** Milliseconds, or text such as `"5s"`, until a call fails. */
  timeout?: number | string;
  undeclared?: "keep" | "refuse" | "strip";
}

/** Settings of a tool, and more about its function. */
export interface ToolOptions extends Settings {
  /** Values of injected parameters. They appear in no schema, and secret ones in no message. */
  inject?: Record<string, unknown>;
  /** What the function accepts, which `bind` compares with the tool. */
  parameters?: ParameterSchema;
}

const SETTINGS = new Set([
  "approval", "autoExpand", "callsPerMinute", "concurrency", "correctNames", "expand",
  "maxAttempts", "maxOutput", "maxResponse", "repair", "strictResult", "throttle", "timeout",
  "undeclared",
]);

function attributes(settings: Settings): string {
  for (const name of Object.keys(settings)) {
    if (!SETTINGS.has(name)) {
      throw new TypeError(`unknown setting \`${name}\`; expected one of ${[...SETTINGS].join(", ")}`);
    }
  }
  const { timeout } = settings;
  const isNumber = typeof timeout === "number";
  return JSON.stringify(isNumber ? { ...settings, timeout: `${timeout}ms` } : settings);
}

/** Functions that implement tools. */
export class ToolLibrary {
  readonly name: string;
  /** @internal */
  readonly native: InstanceType<typeof native.Library>;

  /** Settings are for all tools that are added. */
  constructor(name: string, settings: Settings = {}) {
    this.name = name;
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
    const loaded = attempt(() => native.Library.load(path, name));
    return Object.assign(library, { name: name ?? path, native: loaded });
  }

  /** Adds the function that implements a tool. */
  tool(name: string, implementation: ToolFunction, options?: ToolOptions): this;
  tool(tool: Tool, options?: ToolOptions): this;
  tool(first: string | Tool, ...rest: [(ToolFunction | ToolOptions)?, ToolOptions?]): this {
    if (first instanceof Tool) {
      const { name, execute, parameters } = first.definition;
      return this.add(name, execute, { parameters, ...(rest[0] as ToolOptions) });
    }
    return this.add(first, rest[0] as ToolFunction, rest[1] ?? {});
  }

  private add(name: string, implementation: ToolFunction, options: ToolOptions): this {
    if (typeof implementation !== "function") {
      throw new TypeError(`the implementation of \`${name}\` is not a function`);
    }
    const { inject = {}, parameters, ...settings } = options;
    this.native.add(name, starter(implementation), cancel, {
      ...(parameters && { parameters: JSON.stringify(schemaOf(parameters)) }),
      attributes: attributes(settings),
      injected: JSON.stringify(inject),
      code: codeHash(implementation),
    });
    return this;
  }

  /** Binds the library, as `specification.bind(library)` does. */
  bind(specification: Specification): Bound {
    return specification.bind(this);
  }
}
