// Compares gramc with ajv and zod, in one process and in turn, each with the arguments that a program reads.
//
// Run it with a release build of the package: `npm run build -- --release` and `node benches/speed.mjs`.
// Each figure is the median of fifteen rounds, in microseconds per call.

import { Ajv } from "ajv";
import { guard, loads, tool, ToolLibrary } from "gramc";
import { z } from "zod";

const ROUNDS = 15;
const COUNT = 20_000;
const SPEC = `[stay:Tool | (city::Text)==>(nights::Int {range: 1..30})==>(price::Number)
  ==>(board::"none"|"half"|"full")==>(guests::Text[])==>(::Number)]`;
const TEXT = JSON.stringify({ city: "Vienna", nights: 3, price: 80.5, board: "half", guests: ["Ada", "Grace"] });

const Stay = z.object({
  city: z.string(),
  nights: z.int().min(1).max(30),
  price: z.number(),
  board: z.enum(["none", "half", "full"]),
  guests: z.array(z.string()),
});

const spec = loads(SPEC);
const library = new ToolLibrary("hotel", { throttle: "off" });
library.tool("stay", ({ nights, price }) => nights * price);
const session = spec.bind(library).session();
const [{ parameters }] = spec.compile("openai-functions");
const validate = new Ajv().compile(parameters);

/** The median time of each function. */
async function measure(count, functions) {
  const times = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, work] of Object.entries(functions)) {
      const start = process.hrtime.bigint();
      for (let at = 0; at < count; at += 1) {
        const result = work();
        if (result instanceof Promise) await result;
      }
      (times[name] ??= []).push(Number(process.hrtime.bigint() - start) / count / 1e3);
    }
  }
  for (const [name, all] of Object.entries(times)) {
    console.log(`${name}: ${all.sort((a, b) => a - b)[ROUNDS >> 1].toFixed(2)}`);
  }
}

const OBJECT = JSON.parse(TEXT);
const [guarded] = guard([tool({ name: "stay", parameters, execute: ({ nights, price }) => nights * price })]);

await measure(COUNT, {
  "gramc: text, verdict.ok": () => spec.validate("stay", TEXT).ok,
  "gramc: text, verdict.arguments": () => spec.validate("stay", TEXT).arguments,
  "ajv: text, JSON.parse": () => validate(JSON.parse(TEXT)),
  "zod: text, JSON.parse": () => Stay.parse(JSON.parse(TEXT)),
  "gramc: object, verdict.arguments": () => spec.validate("stay", OBJECT).arguments,
  "ajv: object": () => validate(OBJECT),
  "zod: object": () => Stay.parse(OBJECT),
});
await measure(COUNT / 10, {
  "gramc: session.call": () => session.call("stay", TEXT),
  "gramc: guarded function": () => guarded.definition.execute(TEXT),
});
