// The command line of the package.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("../bin/gramc.js", import.meta.url));

function gramc(options, input = "") {
  const { status, stdout, stderr } = spawnSync(process.execPath, [program, ...options], {
    input,
    encoding: "utf8",
    timeout: 20_000,
  });
  return { code: status, output: stdout, errors: stderr };
}

test("commands print and exit as those of the binary", () => {
  const spec = "[f:Tool | (x::Int)==>(::Int)]";
  const compiled = gramc(["compile", "-"], spec);
  assert.deepEqual([compiled.code, compiled.errors], [0, ""]);
  assert.deepEqual(Object.keys(JSON.parse(compiled.output)), ["f"]);
  assert.equal(gramc(["check", "-"], "[f:Tool").code, 1);
  assert.equal(gramc(["check", "none.gram"]).code, 2);
  assert.match(gramc(["--version"]).output, /^gramc \d+\.\d+\.\d+/);
  assert.match(gramc(["--help"]).output, /Usage: gramc/);
  assert.equal(gramc(["cehck"]).code, 2);
});

test("the end of the process is clean each time", () => {
  for (let at = 0; at < 20; at += 1) {
    assert.deepEqual(gramc(["fmt", "-"], "[f:Tool | ()==>(::Int)]\n").code, 0);
  }
});
