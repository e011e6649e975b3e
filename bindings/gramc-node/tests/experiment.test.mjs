// Experiments whose agent is a function.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { experiment, ExperimentError, loads, ToolLibrary } from "gramc";

import { sleep } from "./support.mjs";

const SPEC = loads('[status:Tool | (id::Int)==>(::"open" | "shipped" | "lost")]');

function arm(implementation, settings) {
  return SPEC.bind(new ToolLibrary("shop", { throttle: "off", ...settings }).tool("status", implementation));
}

const stable = () => arm(() => "open");
const worse = () => arm(({ id }) => (id % 5 === 0 ? "lost" : "open"));

/** Asks for the order that the message names. */
async function clerk(session, message) {
  const verdict = await session.call("status", { id: message.split(" ").at(-1) });
  return `It is ${verdict.result}.`;
}

const cases = (count) =>
  Array.from({ length: count }, (_, id) => ({ id: `${id}`, input: `Where is order ${id}`, expect: { contains: "open" } }));

const folder = () => mkdtempSync(join(tmpdir(), "gramc-experiment-"));

test("a worse arm is found", async () => {
  const report = await experiment({ agent: clerk, arms: { stable: stable(), worse: worse() }, cases: cases(200) });
  const { verdict, comparisons, arms } = report.toJSON();
  assert.match(verdict, /^worse worse by 20\.0 points/);
  assert.equal(comparisons.length > 0, true);
  assert.deepEqual(arms, ["stable", "worse"]);
  assert.equal(report.gate("success >= -1pp"), false);
  assert.match(report.text, /worse/);
  assert.equal(String(report), report.text);
  assert.throws(() => report.gate("succes > 1"), (error) => {
    assert.ok(error instanceof ExperimentError, error);
    assert.match(error.message, /succes/);
    return true;
  });
});

test("equal arms pass a gate", async () => {
  const arms = { a: stable(), b: stable() };
  const report = await experiment({ agent: clerk, arms, cases: cases(400), concurrency: 32 });
  assert.equal(report.gate("success >= -1pp"), true);
});

test("an experiment has the numbers of the command line", async () => {
  const place = folder();
  const options = { agent: clerk, arms: { stable: stable(), worse: worse() }, cases: cases(60), seed: 3 };
  const report = await experiment({ ...options, report: join(place, "all") });
  await experiment({ ...options, report: join(place, "1"), shard: "1/2" });
  await experiment({ ...options, report: join(place, "2"), shard: "2/2" });
  const program = process.env.GRAMC ?? "gramc";
  const merge = spawnSync(program, ["ab", "merge", "1", "2", "--report", "merged"], { cwd: place, encoding: "utf8" });
  assert.equal(merge.status, 0, merge.stderr);
  const merged = JSON.parse(readFileSync(join(place, "merged/report.json"), "utf8"));
  const success = ({ comparisons }) => comparisons.find((it) => it.outcome === "success");
  assert.deepEqual(success(merged), success(report.toJSON()));
  assert.ok(existsSync(join(place, "all/report.html")));
});

test("all turns of a case have one session, and none after it", async () => {
  const seen = [];
  const agent = async (session, message) => {
    seen.push([session, message]);
    return (await session.call("status", { id: 1 })).message;
  };
  const talk = [{ input: ["first", "second"], expect: { contains: "open" } }];
  await experiment({ agent, arms: { a: stable(), b: stable() }, cases: talk, concurrency: 1 });
  assert.deepEqual(seen.map(([, message]) => message), ["first", "second", "first", "second"]);
  assert.equal(seen[0][0], seen[1][0]);
  assert.notEqual(seen[0][0], seen[2][0]);
  const late = await seen[0][0].call("status", { id: 1 });
  assert.equal(late.ok, false);
});

test("usage and models of the agent are reported", async () => {
  const agent = () => ({ output: "open", model: "m", usage: { input_tokens: 3, output_tokens: 4, requests: 2 } });
  const report = await experiment({ agent, arms: { a: stable(), b: stable() }, cases: cases(3), repeats: 2 });
  const tokens = report.toJSON().comparisons.find((it) => it.outcome === "tokens");
  assert.deepEqual([tokens.first.mean, tokens.second.mean], [7, 7]);
});

test("exceptions of the agent are failures of the arm", async () => {
  let runs = 0;
  const agent = (session) => {
    if ((runs += 1) > 10 && session.bound === arms.b) throw new Error("no idea");
    return "open";
  };
  const arms = { a: stable(), b: stable() };
  const report = await experiment({ agent, arms, cases: cases(60), concurrency: 1 });
  assert.equal(report.gate("success >= -1pp"), false);
  const failing = () => { throw new Error("no idea"); };
  await assert.rejects(experiment({ agent: failing, arms, cases: cases(3) }), (error) => {
    assert.ok(error instanceof ExperimentError);
    assert.match(error.message, /no idea/);
    return true;
  });
});

test("what cannot run is said before anything runs", async () => {
  const options = { agent: clerk, arms: { a: stable(), b: stable() }, cases: cases(2) };
  const rejects = (changed, message) => assert.rejects(experiment({ ...options, ...changed }), (error) => {
    assert.ok(error instanceof ExperimentError, error);
    assert.match(error.message, message);
    return true;
  });
  await rejects({ arms: { a: stable() } }, /at least two arms/);
  await rejects({ primary: "sucess" }, /did you mean `success`/);
  await rejects({ cases: [{ input: "x", expect: { calls: [{ name: "stauts" }] } }] }, /stauts/);
  await rejects({ cases: join(folder(), "none.jsonl") }, /cannot read .*none\.jsonl/);
  await rejects({ repeats: 0 }, /`repeats` to be from 1/);
  await rejects({ time_limit: 1 }, /unknown option `time_limit`; expected one of agent, arms/);
  await rejects({ agent: undefined }, /expected a function as `agent`/);
  await rejects({ arms: { a: stable(), 2: stable() } }, /name that is no number as `arms\.2`/);
  await rejects({ arms: { a: stable(), b: new ToolLibrary("b") } }, /a bound library as `arms\.b`/);
  await rejects({ timeLimit: NaN }, /a number above 0 as `timeLimit`/);
  await rejects({ repeats: "2" }, /a whole number as `repeats`/);
  await rejects({ maxCost: 1, model: "x" }, /`maxCost` needs the price of `x`/);
  await rejects({ agent: clerk.bind(null), report: folder() }, /source text of the agent is not known.*`version`/);
  await rejects({ agent: () => {} }, /expected a string, or an object with `output`, found null/);
});

test("a cancelled experiment continues", async () => {
  const place = folder();
  let runs = 0;
  const controller = new AbortController();
  const agent = async (session, message) => {
    runs += 1;
    if (runs === 20) controller.abort(new Error("enough"));
    await sleep(2);
    return clerk(session, message);
  };
  const options = { agent, arms: { a: stable(), b: worse() }, cases: cases(100), report: place, concurrency: 2 };
  await assert.rejects(experiment({ ...options, signal: controller.signal }), { message: "enough" });
  const before = runs;
  assert.ok(before >= 20 && before < 190, `${before}`);
  await experiment(options);
  assert.ok(runs < 200 + 10, `${runs} runs instead of 200`);
  const other = async (session, message) => clerk(session, message);
  await assert.rejects(experiment({ ...options, agent: other }), /contains another experiment/);
});

test("the process can be killed at any time", async () => {
  const place = folder();
  const program = `
    const { experiment, loads, ToolLibrary } = require("gramc");
    const fs = require("node:fs");
    const spec = loads('[f:Tool | ()==>(::Any)]');
    const arm = () => spec.bind(new ToolLibrary("l", { throttle: "off" }).tool("f", () => 1));
    const agent = async (session) => {
      fs.appendFileSync(${JSON.stringify(join(place, "runs"))}, ".");
      if (process.argv[1] && Math.random() < 0.05) process.kill(process.pid, "SIGKILL");
      return (await session.call("f")).message;
    };
    const cases = Array.from({ length: 50 }, (_, at) => ({ input: String(at), expect: { contains: "1" } }));
    experiment({ agent, arms: { a: arm(), b: arm() }, cases, report: ${JSON.stringify(join(place, "report"))}, concurrency: 1 })
      .then((report) => console.log(report.toJSON().plan?.runs ?? "done"));`;
  writeFileSync(join(place, "runs"), "");
  const run = (...options) =>
    spawnSync(process.execPath, ["-e", program, ...options], {
      cwd: fileURLToPath(new URL("..", import.meta.url)),
      encoding: "utf8",
    });
  assert.equal(run("die").signal, "SIGKILL");
  const ended = run();
  assert.equal(ended.status, 0, ended.stderr);
  const runs = readFileSync(join(place, "runs"), "utf8").length;
  assert.ok(runs >= 100 && runs <= 102, `${runs} runs`);
});
