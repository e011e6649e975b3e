/** Tool sets of the AI SDK. */

import type { Schema, Tool } from "ai";

import { changed, ToolCheck, type GuardOptions } from "./tool-check.js";
import type { Verdict } from "../verdict.js";

type AiSdk = Pick<typeof import("ai"), "asSchema" | "TypeValidationError">;

/** A tool that checks its calls where the SDK validates their input. */
export function guardAiTool(name: string, tool: Tool, options: GuardOptions): Tool {
  const { asSchema, TypeValidationError } = require("ai") as AiSdk;
  const schema: Schema<unknown> = asSchema(tool.inputSchema);
  let check: Promise<ToolCheck | undefined> | undefined;
  const find = async () => {
    const { description } = tool as { description?: string };
    return ToolCheck.of({ name, description, inputSchema: await schema.jsonSchema }, options);
  };
  const refuse = (value: unknown, verdict: Verdict) => {
    const error = new TypeValidationError({ value, cause: undefined });
    return { success: false as const, error: Object.assign(error, { message: verdict.message }) };
  };
  const validate: Schema["validate"] = async (value) => {
    const known = await (check ??= find());
    const verdict = known?.validate(value);
    // The SDK alone accepts some calls that do not fit the JSON Schema, such as those that zod coerces.
    const own = verdict?.ok ? undefined : await schema.validate?.(value);
    if (own?.success) return own;
    if (verdict) known?.report(verdict);
    if (verdict && !verdict.ok) return refuse(value, verdict);
    const checked = verdict ? verdict.arguments : value;
    return own ?? (await schema.validate?.(checked)) ?? { success: true, value: checked };
  };
  // The model sees the same schema. It is computed when it is read.
  const guarded = Object.create(schema, { validate: { value: validate, enumerable: true } });
  return changed(tool, { inputSchema: guarded });
}
