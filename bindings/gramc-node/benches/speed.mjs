// Compares gramc with ajv and zod, in one process and in turn.
//
// Run it with a release build of the package: `npm run build -- --release` and `node benches/speed.mjs`.
// Each figure is the best of nine rounds, in microseconds per call.

import { Ajv } from "ajv";
import { loads, ToolLibrary } from "gramc";
import { z } from "zod";

const ROUNDS = 9;
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

/** The best time of each function. */
function measure(functions) {
  const best = {};
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [name, work] of Object.entries(functions)) {
      const start = process.hrtime.bigint();
      for (let at = 0; at < COUNT; at += 1) work();
      const time = Number(process.hrtime.bigint() - start) / COUNT / 1e3;
      best[name] = Math.min(best[name] ?? Infinity, time);
    }
  }
  return best;
}

const checks = measure({
  "gramc: spec.validate(…).ok": () => spec.validate("stay", TEXT).ok,
  "gramc: spec.validate(…).arguments": () => spec.validate("stay", TEXT).arguments,
  "ajv and JSON.parse": () => validate(JSON.parse(TEXT)),
  "zod and JSON.parse": () => Stay.parse(JSON.parse(TEXT)),
});
for (const [name, time] of Object.entries(checks)) console.log(`${name}: ${time.toFixed(2)}`);

let best = Infinity;
for (let round = 0; round < ROUNDS; round += 1) {
  const start = process.hrtime.bigint();
  for (let at = 0; at < COUNT / 10; at += 1) await session.call("stay", TEXT);
  best = Math.min(best, (Number(process.hrtime.bigint() - start) / COUNT) * 10 / 1e3);
}
console.log(`gramc: session.call: ${best.toFixed(2)}`);
