/** Definitions from schemas in code. */

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

/** @internal */
export function schemaOf(parameters: ParameterSchema): object {
  if (!("~standard" in parameters)) return parameters;
  const standard = parameters["~standard"] as { jsonSchema?: { input: (options: object) => object } };
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

  /** @internal */
  constructor(definition: ToolDefinition) {
    const { name, description, parameters } = definition;
    const tools = JSON.stringify({ name, description, inputSchema: schemaOf(parameters) });
    const { text, notes } = native.importTools(tools);
    this.definition = definition;
    this.gram = text;
    this.notes = notes;
  }

  /** The definition as a specification. */
  get specification(): Specification {
    return Specification.parse(this.gram, `${this.definition.name}.gram`);
  }
}

/** Derives the definition in gram of a tool in code. */
export function tool(definition: ToolDefinition): Tool {
  return new Tool(definition);
}
