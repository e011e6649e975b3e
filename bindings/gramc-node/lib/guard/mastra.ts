/** Tools of Mastra. */

import { changed, ToolCheck, type GuardOptions } from "./tool-check.js";
import type { Verdict } from "../verdict.js";

interface Issue {
  message: string;
  path?: string[];
}

/** The part of Mastra's tools that matters here; its package needs a newer Node. */
export interface MastraTool {
  id: string;
  description?: string;
  inputSchema?: {
    "~standard": {
      validate: (value: unknown, ...rest: unknown[]) => { issues?: unknown };
      jsonSchema: { input: (options: { target: string }) => object };
    };
  };
}

/** Whether an object is a tool of Mastra. */
export function isMastraTool(tool: object): tool is MastraTool {
  return (tool as Record<symbol, unknown>)[Symbol.for("mastra.core.tool.Tool")] === true;
}

/** A tool that checks its calls where Mastra validates their input. */
export function guardMastraTool(tool: MastraTool, options: GuardOptions): MastraTool {
  const standard = tool.inputSchema?.["~standard"];
  if (!standard) return tool;
  const { id: name, description } = tool;
  const inputSchema = standard.jsonSchema.input({ target: "draft-07" });
  const check = ToolCheck.of({ name, description, inputSchema }, options);
  if (!check) return tool;
  const validate = (value: unknown, ...rest: unknown[]) => {
    const verdict = check.validate(value);
    if (!verdict.ok) {
      // Mastra alone accepts some calls that do not fit the JSON Schema, such as those that zod coerces.
      const own = standard.validate(value, ...rest);
      if (!own.issues) return own;
    }
    check.report(verdict);
    return verdict.ok ? standard.validate(verdict.arguments, ...rest) : { issues: issues(verdict) };
  };
  return changed(tool, { inputSchema: { "~standard": { ...standard, vendor: "gramc", validate } } });
}

function issues(verdict: Verdict): Issue[] {
  const { errors, message } = verdict;
  if (!errors.length) return [{ message }];
  return errors.map(({ pointer, error_message }) => {
    return { message: error_message, path: pointer.split("/").slice(1) };
  });
}
