/** Spans of OpenTelemetry, if the program uses it. */

import type { Verdict } from "./verdict.js";

type Api = typeof import("@opentelemetry/api");

let loaded: { api: Api | undefined } | undefined;

/** The package. It is loaded with the first call. */
function load(): Api | undefined {
  if (loaded) return loaded.api;
  let api: Api | undefined;
  try {
    api = require("@opentelemetry/api") as Api;
  } catch {
    // The program does not use it.
  }
  loaded = { api };
  return api;
}

/** Runs a call in a span with the conventions of OpenTelemetry for GenAI. */
export async function traceCall(
  name: string,
  callId: string | undefined,
  work: () => Promise<Verdict>,
): Promise<Verdict> {
  const api = load();
  if (!api) return work();
  const attributes = {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": name,
    "gen_ai.tool.type": "function",
    ...(callId !== undefined && { "gen_ai.tool.call.id": callId }),
  };
  const { SpanStatusCode } = api;
  return api.trace.getTracer("gramc").startActiveSpan(`execute_tool ${name}`, { attributes }, async (span) => {
    try {
      const verdict = await work();
      if (!verdict.ok) {
        span.setAttribute("error.type", verdict.errorType ?? "_OTHER");
        span.setStatus({ code: SpanStatusCode.ERROR });
        const cause = verdict.error?.cause;
        if (cause instanceof Error) span.recordException(cause);
      }
      recordCheck(verdict);
      return verdict;
    } catch (error) {
      span.setAttribute("error.type", "cancelled");
      span.setStatus({ code: SpanStatusCode.ERROR });
      throw error;
    } finally {
      span.end();
    }
  });
}

/** The context of the current trace as JSON text, by the keys of W3C Trace Context. */
export function traceContext(): string | undefined {
  const api = load();
  if (!api) return undefined;
  const carrier = {};
  api.propagation.inject(api.context.active(), carrier);
  return Object.keys(carrier).length ? JSON.stringify(carrier) : undefined;
}

/** Records repairs, removed arguments and refusals as an event of the current span. */
export function recordCheck(verdict: Verdict): void {
  const span = load()?.trace.getActiveSpan();
  if (!span?.isRecording()) return;
  const { name, repairs, stripped, errorType } = verdict;
  if (!repairs.length && !stripped.length && !errorType) return;
  span.addEvent("gramc.check", {
    "gen_ai.tool.name": name,
    "gramc.repairs": repairs.map(({ rule, path }) => `${rule} ${path}`.trim()),
    "gramc.stripped": stripped,
    ...(errorType && { "gramc.error_type": errorType }),
  });
}
