// The command line of the package.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
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

test("signals end it", async () => {
  for (const [options, codes] of [
    [["mcp", "spec.gram", "--library", "library.gram"], [0]],
    [["session", "spec.gram", "--library", "library.gram"], [130, 143]],
  ]) {
    const folder = fileURLToPath(new URL("../../../tests/parity", import.meta.url));
    for (const signal of ["SIGINT", "SIGTERM"]) {
      const child = spawn(process.execPath, [program, ...options], { cwd: folder, stdio: ["pipe", "ignore", "ignore"] });
      await new Promise((done) => setTimeout(done, 700));
      child.kill(signal);
      const limit = setTimeout(() => child.kill("SIGKILL"), 5_000);
      const [code] = await once(child, "exit");
      clearTimeout(limit);
      assert.notEqual(code, null, `${options[0]} ${signal}`);
      assert.ok(code === 0 || codes.includes(code), `${options[0]} ${signal}: ${code}`);
    }
  }
});

test("the end of the process is clean each time", () => {
  for (let at = 0; at < 20; at += 1) {
    assert.deepEqual(gramc(["fmt", "-"], "[f:Tool | ()==>(::Int)]\n").code, 0);
  }
});
