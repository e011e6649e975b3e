/** Definitions from schemas in code. */

import { expectString } from "./errors.js";
import { native } from "./native.js";
import type { ToolFunction } from "./functions.js";
import { Specification } from "./specification.js";

/**
 * A JSON Schema, or a schema of a library that can write JSON Schemas, such as zod 4.2 or newer (see
 * "Standard JSON Schema").
 */
export type ParameterSchema =
  | Record<string, unknown>
  | { "~standard": { jsonSchema?: { input: (options: { target: "draft-2020-12" }) => object } } };

/** A tool in code. */
export interface ToolDefinition {
  name: string;
  description?: string;
  parameters: ParameterSchema;
  execute: ToolFunction;
}

interface Issue {
  message: string;
  path?: readonly unknown[];
}

interface StandardSchema {
  validate?: (value: unknown) => Promise<Validated> | Validated;
  jsonSchema?: { input: (options: object) => object };
}

type Validated = { value: unknown; issues?: undefined } | { issues: readonly Issue[] };

/** @internal A function that gets what a schema makes of its arguments, such as defaults and other types. */
export function parsed(parameters: ParameterSchema, implementation: ToolFunction): ToolFunction {
  const standard = "~standard" in parameters ? (parameters["~standard"] as StandardSchema) : undefined;
  const { validate } = standard ?? {};
  if (!validate) return implementation;
  return async (given, context) => {
    const made = await validate(given);
    if (!made.issues) return implementation(made.value, context);
    const texts = made.issues.map(({ message, path = [] }) => {
      const names = path.map((part) => (typeof part === "object" && part && "key" in part ? part.key : part));
      return names.length ? `${names.join(".")}: ${message}` : message;
    });
    throw new TypeError(texts.join("; "));
  };
}

const EXPECTED = "expected a JSON Schema or a schema of zod 4.2 or newer as `parameters`";

/** @internal */
export function schemaOf(parameters: ParameterSchema): object {
  if (typeof parameters !== "object" || parameters === null) {
    throw new TypeError(EXPECTED);
  }
  if (!("~standard" in parameters)) {
    // Schemas of other libraries are objects, too.
    const method = ["parse", "validate"].find((name) => typeof parameters[name] === "function");
    if (method) throw new TypeError(`${EXPECTED}, found an object with \`${method}\``);
    return parameters;
  }
  const standard = parameters["~standard"] as StandardSchema;
  if (!standard.jsonSchema) {
    throw new TypeError("the schema cannot be written as JSON Schema; use zod 4.2 or newer, or a JSON Schema");
  }
  return standard.jsonSchema.input({ target: "draft-2020-12" });
}

/** A tool in code, with its definition in gram. */
export class Tool {
  readonly definition: ToolDefinition;
  /** The definition in gram. */
  readonly gram: string;
  /** What gram cannot express. */
  readonly notes: string[];

  private constructor(definition: ToolDefinition) {
    const { name, description, parameters } = definition;
    const tools = JSON.stringify({ name, description, inputSchema: schemaOf(parameters) });
    const { text, notes } = native.importTools(tools);
    this.definition = definition;
    this.gram = text;
    this.notes = notes;
  }

  /** @internal */
  static of(definition: ToolDefinition): Tool {
    expectString(definition.name, "name");
    return new Tool(definition);
  }

  /** The definition as a specification. */
  get specification(): Specification {
    return Specification.parse(this.gram, `${this.definition.name}.gram`);
  }
}

/** Derives the definition in gram of a tool in code. */
export function tool(definition: ToolDefinition): Tool {
  return Tool.of(definition);
}

/** The specification of tools in code. */
export function specification(tools: Tool[]): Specification {
  const definitions = tools.map(({ definition: { name, description, parameters } }) => {
    return { name, description, inputSchema: schemaOf(parameters) };
  });
  return Specification.parse(native.importTools(JSON.stringify({ tools: definitions })).text, "tools.gram");
}
