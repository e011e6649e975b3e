// The examples of the documentation print what it shows.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import typescript from "typescript";

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

const adapters = readdirSync(place("../../../docs/adapters")).map((name) => `docs/adapters/${name}`);
// tests/system/tests/real/agents.rs compiles those of frameworks that need a newer Node or a program.
const isExample = (page) => blocksOf(page).some(({ kind }) => kind === "ts") && !/mastra|claude/.test(page);

const manual = ["docs/typescript.md", "docs/servers.md", "docs/observability.md"];
for (const page of [...manual, ...adapters.filter(isExample)]) {
  test(`the examples of ${page}`, () => examples(page));
}

function examples(page) {
  const blocks = blocksOf(page);
  const folder = mkdtempSync(join(tmpdir(), "gramc-docs-"));
  mkdirSync(join(folder, "node_modules"));
  for (const name of readdirSync(place("../node_modules"))) {
    symlinkSync(place(`../node_modules/${name}`), join(folder, "node_modules", name));
  }
  symlinkSync(place(".."), join(folder, "node_modules/gramc"));
  const gram = blocks.find(({ kind }) => kind === "gram");
  if (gram) writeFileSync(join(folder, "shop.gram"), gram.text);
  const options = { cwd: folder, encoding: "utf8" };

  const end = "--- end of a block ---\n";
  const isTest = ({ text }) => text.includes('from "vitest"');
  const all = blocks.filter(({ kind }) => kind === "ts");
  const programs = all.filter((block) => !isTest(block));
  const texts = programs.map(({ text }) => `${text}\nconsole.log(${JSON.stringify(end.trim())});`);
  const { outputText } = typescript.transpileModule(texts.join("\n"), {
    compilerOptions: { module: typescript.ModuleKind.ESNext, target: typescript.ScriptTarget.ES2022 },
  });
  writeFileSync(join(folder, "page.mjs"), outputText);
  const { stdout, stderr } = spawnSync(process.execPath, ["page.mjs"], options);
  assert.equal(stderr, "");
  const expected = programs.map((program) => {
    const following = blocks[blocks.indexOf(program) + 1];
    return following?.kind === "output" ? following.text : "";
  });
  assert.deepEqual(stdout.split(end).slice(0, -1), expected);

  // What a user compiles strictly.
  const whole = all.map(({ text }) => text).join("\n");
  writeFileSync(join(folder, "page.mts"), whole);
  const compilerOptions = { strict: true, noEmit: true, module: "nodenext", target: "es2022", skipLibCheck: true };
  writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["page.mts"] }));
  const compiler = join(folder, "node_modules/typescript/bin/tsc");
  assert.equal(spawnSync(process.execPath, [compiler, "-p", "."], options).stdout, "");

  // The gate needs what the blocks before it declare. It fails, since the arm is worse.
  const gate = all.findIndex(isTest);
  if (gate < 0) return rmSync(folder, { recursive: true });
  const text = all.slice(0, gate + 1).map((block) => block.text).join("\n");
  writeFileSync(join(folder, "gate.test.ts"), text);
  const vitest = join(folder, "node_modules/vitest/vitest.mjs");
  const tested = spawnSync(process.execPath, [vitest, "run"], options);
  assert.equal(tested.status, 1, tested.stdout + tested.stderr);
  assert.match(tested.stdout + tested.stderr, /the rewrite is as good[^]*worse by 10\.0 points/);
  rmSync(folder, { recursive: true });
}
