// The same calls through the command line and this package give the same JSON, byte for byte.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { load, ToolLibrary } from "gramc";

const folder = fileURLToPath(new URL("../../../tests/parity", import.meta.url));
const calls = readFileSync(join(folder, "calls.jsonl"), "utf8").trim().split("\n").map((line) => JSON.parse(line));

/** The verdicts of the command line. */
function commandLine(...options) {
  const program = process.env.GRAMC ?? "gramc";
  const command = [...options, "--calls", "calls.jsonl"];
  const { status, stdout, stderr } = spawnSync(program, command, { cwd: folder, encoding: "utf8" });
  assert.ok(status === 0 || status === 1, stderr);
  return stdout.trimEnd().split("\n");
}

async function compare(expected, judge) {
  assert.equal(calls.length, expected.length);
  for (const [at, call] of calls.entries()) {
    const { name, id } = call;
    // Numbers that JavaScript cannot hold are in texts, see generate.py.
    const verdict = await judge(name, call.arguments, { callId: id });
    assert.equal(String(verdict), expected[at]);
    // Node 20 writes numbers as JavaScript holds them.
    const written = "rawJSON" in JSON ? expected[at] : JSON.stringify(JSON.parse(expected[at]));
    assert.equal(JSON.stringify(verdict), written);
  }
}

test("checks are the same", async () => {
  const expected = commandLine("validate", "spec.gram");
  const spec = load(join(folder, "spec.gram"));
  await compare(expected, (...call) => spec.validate(...call));
});

test("calls are the same", async () => {
  const expected = commandLine("replay", "spec.gram", "--library", "library.gram");
  const library = ToolLibrary.load(join(folder, "library.gram"));
  const session = load(join(folder, "spec.gram")).bind(library).session();
  await compare(expected, (...call) => session.call(...call));
});
