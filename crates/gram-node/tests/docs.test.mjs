// The examples of the documentation print what it shows.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const place = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The blocks of a page. */
function blocksOf(page) {
  const matches = readFileSync(place(`../../../${page}`), "utf8").matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...matches].map(([, kind, text]) => ({ kind, text }));
}

test("the readme", () => {
  const programs = blocksOf("README.md").filter(({ kind }) => kind === "ts");
  assert.equal(programs.length, 1);
  const text = programs[0].text.replaceAll("examples/", place("../../../examples/"));
  const options = { cwd: place(".."), input: text, encoding: "utf8" };
  const { stdout, stderr } = spawnSync(process.execPath, ["--input-type=module", "-"], options);
  assert.deepEqual([stdout, stderr], ["Hello, Ada!\n", ""]);
});

test("examples", () => {
  const blocks = blocksOf("docs/typescript.md");
  const folder = mkdtempSync(join(tmpdir(), "gramc-docs-"));
  symlinkSync(place("../node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, "package.json"), readFileSync(place("../package.json")));
  for (const part of ["dist", "bin"]) symlinkSync(place(`../${part}`), join(folder, part));
  writeFileSync(join(folder, "shop.gram"), blocks.find(({ kind }) => kind === "gram").text);

  const end = "--- end of a block ---\n";
  const programs = blocks.filter(({ kind }) => kind === "ts");
  const texts = programs.map(({ text }) => `${text}\nconsole.log(${JSON.stringify(end.trim())});`);
  writeFileSync(join(folder, "page.mjs"), texts.join("\n"));
  const options = { cwd: folder, encoding: "utf8" };
  const { stdout, stderr } = spawnSync(process.execPath, ["page.mjs"], options);
  assert.equal(stderr, "");

  const expected = programs.map((program) => {
    const following = blocks[blocks.indexOf(program) + 1];
    return following?.kind === "output" ? following.text : "";
  });
  assert.deepEqual(stdout.split(end).slice(0, -1), expected);
  assert.ok(programs.length > 8);
  rmSync(folder, { recursive: true });
});
