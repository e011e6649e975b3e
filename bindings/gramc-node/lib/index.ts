/**
 * Defines, binds, checks and runs the tools of LLM agents.
 *
 * Documentation: docs/typescript.md in the repository of gramc.
 */

export { BindError, ExperimentError, SpecError, type Diagnostic, type Gap } from "./errors.js";
export { experiment, Report, type Agent, type AgentAnswer, type ExperimentOptions } from "./experiment.js";
export { guard } from "./guard.js";
export { CallRefused, type GuardOptions } from "./guard/tool-check.js";
export type { Implementation, ToolContext, ToolFunction, ToolFunctions } from "./functions.js";
export { ToolLibrary, type LibraryOptions, type Settings, type ToolOptions } from "./library.js";
export { Bound, Session, type Approve, type CallOptions, type SessionOptions } from "./session.js";
export { Specification, load, loads } from "./specification.js";
export { CallStream, type Chunk } from "./stream.js";
export { specification, Tool, tool, type ParameterSchema, type ToolDefinition } from "./tool.js";
export { Verdict, type CallProblem, type Repair, type VerdictError, type Warning } from "./verdict.js";
