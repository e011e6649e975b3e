// Cancellation, concurrency, calls within calls, worker threads, memory, and the end of the process.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Worker } from "node:worker_threads";

import { loads } from "gramc";

import { bindOne, ONE, sleep } from "./support.mjs";

test("aborting a call reaches the function", async () => {
  let reason = "running";
  const session = bindOne(ONE, "f", (_, { signal }) => {
    signal.addEventListener("abort", () => (reason = "aborted"));
    return sleep(2000);
  });
  const controller = new AbortController();
  const call = session.call("f", { x: 1 }, { signal: controller.signal });
  setTimeout(() => controller.abort(new Error("enough")), 20);
  await assert.rejects(call, { message: "enough" });
  await sleep(20);
  assert.equal(reason, "aborted");
  await assert.rejects(session.call("f", { x: 1 }, { signal: AbortSignal.abort() }), { name: "AbortError" });
});

test("a time limit aborts the function", async () => {
  let isAborted = false;
  const implementation = async (_, { signal }) => {
    await sleep(100);
    isAborted = signal.aborted;
  };
  const session = bindOne(ONE, "f", implementation, { timeout: 10 });
  assert.equal((await session.call("f", { x: 1 })).errorType, "timeout");
  await sleep(150);
  assert.equal(isAborted, true);
});

test("calls that are cancelled before they start do not run", async () => {
  let started = 0;
  const implementation = () => {
    started += 1;
    return new Promise(() => {});
  };
  const session = bindOne(ONE, "f", implementation, { timeout: 50 });
  const start = Date.now();
  const calls = Array.from({ length: 2000 }, (_, x) => session.call("f", { x }));
  while (Date.now() < start + 300);
  const types = new Set((await Promise.all(calls)).map((it) => it.errorType));
  assert.deepEqual([...types], ["timeout"]);
  await sleep(200);
  assert.equal(started, 0);
});

test("many calls run at the same time", async () => {
  const session = bindOne(ONE, "f", async ({ x }) => {
    await sleep(10);
    return x;
  });
  const numbers = Array.from({ length: 1000 }, (_, at) => at);
  const verdicts = await Promise.all(numbers.map((x) => session.call("f", { x })));
  assert.deepEqual(verdicts.map((it) => it.result), numbers);
});

test("tools may call tools", async () => {
  const session = bindOne(ONE, "f", async ({ x }) => {
    return x === 0 ? 0 : x + (await session.call("f", { x: x - 1 })).result;
  });
  assert.equal((await session.call("f", { x: 20 })).result, 210);
});

test("worker threads have sessions of their own", async () => {
  const program = `
    const { parentPort } = require("node:worker_threads");
    const { loads, ToolLibrary } = require("gramc");
    const library = new ToolLibrary("l", { throttle: "off" }).tool("f", ({ x }) => x + 1);
    const session = loads(${JSON.stringify(ONE)}).bind(library).session();
    (async () => {
      let sum = 0;
      for (let x = 0; x < 50; x += 1) sum += (await session.call("f", { x })).result;
      parentPort.postMessage(sum);
    })();`;
  const sums = Array.from({ length: 4 }, () => new Promise((done, failed) => {
    const worker = new Worker(program, { eval: true });
    worker.once("message", done).once("error", failed);
  }));
  assert.deepEqual(await Promise.all(sums), [1275, 1275, 1275, 1275]);
});

test("a worker that ends with calls under way ends nothing else", async () => {
  const program = `
    const { loads, ToolLibrary } = require("gramc");
    const library = new ToolLibrary("l", { throttle: "off" }).tool("f", () => new Promise(() => {}));
    const session = loads(${JSON.stringify(ONE)}).bind(library).session();
    for (let x = 0; x < 20; x += 1) session.call("f", { x });
    setTimeout(() => process.exit(0), 20);`;
  for (let at = 0; at < 5; at += 1) {
    const worker = new Worker(program, { eval: true });
    const code = await new Promise((done) => worker.once("exit", done));
    assert.equal(code, 0);
  }
  const session = bindOne(ONE, "f", ({ x }) => x);
  assert.equal((await session.call("f", { x: 1 })).result, 1);
});

const PRELUDE = `
const { loads, ToolLibrary } = require("gramc");
const library = new ToolLibrary("l", { throttle: "off" });
library.tool("f", ({ x }) => new Promise((done) => setTimeout(done, x)));
const session = loads(${JSON.stringify(ONE)}).bind(library).session();
`;

function runProgram(text) {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, ["-e", PRELUDE + text], {
    cwd: new URL("..", import.meta.url),
    encoding: "utf8",
    timeout: 20_000,
  });
  return { code: status ?? signal, output: stdout, errors: stderr };
}

test("the process ends by itself", () => {
  const nothing = runProgram("console.log(session.names)");
  assert.deepEqual(nothing, { code: 0, output: "[ 'f' ]\n", errors: "" });
  const waited = runProgram("session.call('f', { x: 50 }).then((it) => console.log(it.ok))");
  assert.deepEqual(waited, { code: 0, output: "true\n", errors: "" });
});

test("the process ends with calls under way", () => {
  for (let at = 0; at < 5; at += 1) {
    const ended = runProgram(`
      for (let at = 0; at < 20; at += 1) session.call("f", { x: 100_000 });
      setTimeout(() => process.exit(3), ${at * 10});`);
    assert.deepEqual(ended, { code: 3, output: "", errors: "" });
  }
});

test("programs of tools end with the process", async () => {
  const place = mkdtempSync(join(tmpdir(), "gramc-faults-"));
  const beats = join(place, "beats");
  const script = `while true; do echo >> ${beats}; sleep 0.1; done`;
  writeFileSync(join(place, "l.gram"), `[l:Library | (f:Command {run: ["sh", "-c", ${JSON.stringify(script)}]})]`);
  const isRunning = async () => {
    const before = statSync(beats).size;
    await sleep(400);
    return statSync(beats).size > before;
  };
  for (const end of ["process.exit(0)", "process.kill(process.pid, 'SIGKILL')"]) {
    runProgram(`
      const programs = ToolLibrary.load(${JSON.stringify(join(place, "l.gram"))});
      loads(${JSON.stringify(ONE)}).bind(programs).session().call("f", { x: 1 });
      const wait = () => (require("node:fs").existsSync(${JSON.stringify(beats)}) ? ${end} : setTimeout(wait, 50));
      wait();`);
    for (let at = 0; at < 20 && (await isRunning()); at += 1);
    assert.equal(await isRunning(), false, end);
    rmSync(beats);
  }
});

test("memory is flat", async () => {
  const spec = loads(ONE);
  const session = bindOne(ONE, "f", ({ x }) => ({ x }));
  const run = async (count) => {
    for (let x = 0; x < count; x += 1) {
      spec.validate("f", { x }).toJSON();
      if (x % 20 === 0) await session.call("f", { x });
    }
    return process.memoryUsage().rss / 1024 / 1024;
  };
  const before = await run(30_000);
  const after = await run(150_000);
  assert.ok(after - before < 30, `${before} MiB grew to ${after} MiB`);
});
