/** The worker: runs the operations of gramc, so that typing never waits for them. */

import { load, type Gramc } from "../../../bindings/gramc-web/lib/index.mjs";

/** An operation with its parameters, as in `Gramc.request`. */
export type Operation = [name: string, parameters: object];

/** The outcome of an operation: its result as JSON text, or its error. */
export type Outcome = { result: string } | { error: string; diagnostics: object[] };

const loaded = load(new URL("gramc.wasm", location.href));

function run(gramc: Gramc, [name, parameters]: Operation): Outcome {
  try {
    return { result: gramc.request(name, parameters) };
  } catch (error) {
    const { message, diagnostics = [] } = error as { message: string; diagnostics?: object[] };
    return { error: message, diagnostics };
  }
}

onmessage = async ({ data }: MessageEvent<{ id: number; operations: Operation[] }>) => {
  const gramc = await loaded.catch((error: Error) => error);
  const outcomes = data.operations.map((operation) =>
    gramc instanceof Error ? { error: gramc.message, diagnostics: [] } : run(gramc, operation),
  );
  postMessage({ id: data.id, outcomes });
};
