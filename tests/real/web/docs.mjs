// Runs the programs of pages of the manual with gramc/web, and compares their outputs. Usage: node docs.mjs PAGE…

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const entry = new URL("../../../bindings/gramc-web/dist/index.mjs", import.meta.url).href;
const folder = mkdtempSync(join(tmpdir(), "gramc-web-"));
for (const page of process.argv.slice(2)) {
  const blocks = [...readFileSync(page, "utf8").matchAll(/```ts\n([\s\S]*?)```\n\n```output\n([\s\S]*?)```/g)];
  if (blocks.length === 0) throw new Error(`${page} has no programs`);
  for (const [, program, expected] of blocks) {
    const file = join(folder, "program.mjs");
    writeFileSync(file, program.replace('"gramc/web"', JSON.stringify(entry)));
    const output = execFileSync(process.execPath, [file], { encoding: "utf8" });
    if (output !== expected) throw new Error(`${page}: the program prints\n${output}`);
  }
}
console.log("ok");
