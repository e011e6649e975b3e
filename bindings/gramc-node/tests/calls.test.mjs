// Specifications, libraries, calls and verdicts.

import assert from "node:assert/strict";
import { AsyncLocalStorage } from "node:async_hooks";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { inspect } from "node:util";

import { context, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { BindError, load, loads, SpecError, specification, tool, ToolLibrary, Verdict } from "gramc";
import { z } from "zod";

import { bindOne, ONE, SHOP, sleep } from "./support.mjs";

function folder(files) {
  const place = mkdtempSync(join(tmpdir(), "gramc-"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place, name), text);
  return place;
}

test("specifications are read from texts, files and folders", () => {
  const place = folder({ "a.gram": SHOP, "b.gram": "[other:Tool | ()==>(::Any)]" });
  assert.deepEqual(loads(SHOP).names, ["findOrder", "stay"]);
  assert.deepEqual(load(join(place, "a.gram")).names, ["findOrder", "stay"]);
  assert.deepEqual(load(place).names, ["findOrder", "stay", "other"]);
  assert.deepEqual(load([join(place, "b.gram")]).names, ["other"]);
  assert.throws(() => load(join(place, "none.gram")), { code: "ENOENT", message: /none\.gram/ });
});

test("errors of a specification are exceptions with diagnostics", () => {
  assert.throws(
    () => loads("[f:Tool | (x::Integr)==>(::Any)]", "my.gram"),
    (error) => {
      assert.ok(error instanceof SpecError && error instanceof Error);
      assert.equal(error.name, "SpecError");
      assert.match(error.message, /^my\.gram:1:15: error\[unknown-type\]: .*\n {2}help: /);
      assert.equal(error.diagnostics[0].code, "unknown-type");
      return true;
    },
  );
});

test("both module systems give the same classes", async () => {
  const required = createRequire(import.meta.url)("gramc");
  const imported = await import("gramc");
  const names = (module) => Object.keys(module).filter((name) => /^[A-Za-z]+$/.test(name) && name !== "default");
  assert.deepEqual(names(imported).sort(), names(required).sort());
  assert.equal(required.SpecError, imported.SpecError);
});

test("tools are compiled for targets", () => {
  const spec = loads(SHOP);
  assert.equal(spec.compile("openai")[0].function.name, "findOrder");
  assert.deepEqual(Object.keys(spec.compile("anthropic")[0]), ["name", "description", "input_schema"]);
  assert.throws(() => spec.compile("none"), { code: "InvalidArg", message: /unknown target `none`/ });
});

test("calls are checked without running", () => {
  const spec = loads(SHOP);
  const verdict = spec.validate("stay", '{"nights": "3", "price": 10, "x": 1}', { callId: "c1" });
  assert.ok(verdict instanceof Verdict && verdict.ok);
  assert.deepEqual(verdict.arguments, { nights: 3, price: 10 });
  assert.equal(verdict.repairs[0].rule, "text-to-integer");
  assert.deepEqual(verdict.stripped, ["x"]);
  assert.equal(verdict.id, "c1");
  const refused = spec.validate("stay", { nights: 31 });
  assert.equal(refused.ok, false);
  assert.equal(refused.errorType, "validation_error");
  assert.deepEqual(refused.errors.map((it) => it.pointer), ["/nights", "/price"]);
  assert.equal(refused.arguments, undefined);
  assert.equal(refused.result, undefined);
  assert.match(refused.message, /^the arguments of `stay` have 2 errors/);
  assert.equal(inspect(refused), '<Verdict of "stay": validation_error>');
});

test("verdicts are the JSON of the command line", () => {
  const text = '{"name":"f","ok":true,"arguments":{"x":12345678901234567890},"repairs":[],"stripped":[],"warnings":[]}';
  const verdict = loads(ONE).validate("f", '{"x": 12345678901234567890}');
  assert.equal(String(verdict), text);
  const exact = "rawJSON" in JSON ? text : text.replace("12345678901234567890", "12345678901234567000");
  assert.equal(JSON.stringify(verdict), exact);
});

test("gaps are listed", () => {
  const library = new ToolLibrary("l").tool("stay", () => 1).tool("more", () => 1);
  assert.throws(
    () => loads(SHOP).bind(library),
    (error) => {
      assert.ok(error instanceof BindError);
      assert.deepEqual(error.gaps.map((gap) => gap.tool), ["findOrder", "more"]);
      assert.equal(error.diagnostics[0].severity, "error");
      assert.equal(error.message.split("\n").length, 2);
      return true;
    },
  );
});

test("schemas of functions are compared with the tools", () => {
  const parameters = z.object({ nights: z.int().max(7), price: z.number() });
  const library = new ToolLibrary("l").tool("stay", () => 1, { parameters });
  assert.throws(() => loads(SHOP.split("\n")[2]).bind(library), (error) => {
    assert.ok(error instanceof BindError, error);
    assert.match(error.message, /the implementation of `stay` rejects arguments that the tool allows: .*at \/nights/);
    return true;
  });
  const json = { type: "object", properties: { nights: { type: "integer" }, price: { type: "number" } } };
  loads(SHOP.split("\n")[2]).bind(new ToolLibrary("l").tool("stay", () => 1, { parameters: json }));
});

test("functions run with repaired arguments", async () => {
  const spec = loads(SHOP);
  const library = new ToolLibrary("shop")
    .tool("findOrder", async ({ id }) => ({ id, found: true }))
    .tool("stay", ({ nights, price }) => nights * price);
  const session = spec.bind(library).session();
  const verdict = await session.call("stay", "{nights: '3', price: 10,}");
  assert.equal(verdict.result, 30);
  assert.equal(verdict.message, "30");
  assert.deepEqual((await session.call("findOrder", { id: "a" })).result, { id: "a", found: true });
  assert.deepEqual(session.names, ["findOrder", "stay"]);
  assert.equal(session.bound.specification, spec);
});

test("failures of functions are verdicts", async () => {
  const cases = [
    [() => { throw new Error("no such order"); }, /no such order/],
    [async () => { throw "only text"; }, /only text/],
    [() => { throw Object.create(null); }, /the function threw object/],
    [() => { throw new RangeError(); }, /the function threw RangeError/],
    [() => 1n, /cannot be written as JSON: .*BigInt/],
    [() => NaN, /cannot be written as JSON: the number NaN has no form in JSON/],
    [() => { const own = {}; own.own = own; return own; }, /cannot be written as JSON: .*circular/],
    [() => () => 1, /cannot be written as JSON: a function/],
    [() => ({ a: Promise.resolve(1) }), /cannot be written as JSON: a promise/],
    [() => new Map([[{}, 1]]), /cannot be written as JSON: a map whose keys are no texts/],
    [() => ({ text: "a\ud800b" }), /a text with half of a surrogate pair has no form in JSON/],
    [() => new Date(NaN), /cannot be written as JSON: an invalid date/],
    [() => { throw Object.defineProperty(new Error("x"), "message", { value: 5 }); }, /failed: 5/],
    [() => JSON.parse("[".repeat(200) + "]".repeat(200)), /nests too deeply/],
  ];
  for (const [implementation, expected] of cases) {
    const verdict = await bindOne(ONE, "f", implementation).call("f", { x: 1 });
    assert.equal(verdict.errorType, "invocation_error");
    assert.match(verdict.message, expected);
    assert.doesNotMatch(verdict.message, /calls\.test/);
    assert.deepEqual(verdict.arguments, { x: 1 });
  }
});

test("results are what JSON can hold", async () => {
  const date = new Date("2026-01-02T03:04:05Z");
  const cases = [
    [undefined, null],
    [date, "2026-01-02T03:04:05.000Z"],
    [new Set([1, 2]), [1, 2]],
    [new Map([["a", 1]]), { a: 1 }],
    ["😀 \u2028", "😀 \u2028"],
    [{ a: undefined, b: [undefined] }, { b: [null] }],
  ];
  for (const [returned, expected] of cases) {
    const verdict = await bindOne(ONE, "f", () => returned).call("f", { x: 1 });
    assert.deepEqual(verdict.result, expected);
  }
});

test("settings are those of libraries in gram", async () => {
  const limited = bindOne(ONE, "f", () => sleep(1000), { timeout: 20 });
  assert.equal((await limited.call("f", { x: 1 })).errorType, "timeout");
  const library = new ToolLibrary("l", { maxAttempts: 2 }).tool("f", () => 1);
  const session = loads(ONE).bind(library).session();
  const types = [];
  for (let at = 0; at < 3; at += 1) types.push((await session.call("f", { x: `no${at}` })).errorType);
  assert.deepEqual(types, ["validation_error", "needs_human_review", "needs_human_review"]);
  session.reset("f");
  assert.equal((await session.call("f", { x: 1 })).ok, true);
  assert.throws(() => session.reset("g"), /no tool `g`/);
  assert.throws(() => new ToolLibrary("l", { time: 1 }), /unknown setting `time`; expected one of allToolsCalls, /);
  for (const wrong of [{ timeout: NaN }, { timeout: "1.5s" }, { throttle: "none" }, { concurrency: -1 }]) {
    const [name] = Object.keys(wrong);
    assert.throws(() => new ToolLibrary("l", wrong), new RegExp(`\`${name}\` expects`));
    assert.throws(() => new ToolLibrary("l").tool("f", () => 1, wrong), TypeError);
  }
  assert.throws(() => new ToolLibrary("l", { timeout: -1 }), /`timeout` expects milliseconds, or a time/);
  new ToolLibrary("l", { timeout: 1000 * 1.15, undeclared: "reject", sameToolCalls: 3 });
  assert.throws(() => new ToolLibrary("l").tool("f"), /implementation of `f` is not a function/);
});

test("injected values reach the function alone", async () => {
  const spec = "[f:Tool | (token::Text {injected: true, secret: true})==>(x::Int)==>(::Any)]";
  const session = bindOne(spec, "f", ({ token }) => `got ${token}`, { inject: { token: "hunter2" } });
  const verdict = await session.call("f", { x: 1 });
  assert.equal(verdict.ok, true);
  assert.doesNotMatch(String(verdict) + verdict.message, /hunter2/);
  assert.doesNotMatch(JSON.stringify(session.bound.specification.compile("mcp")), /token/);
});

test("libraries in gram take functions, too", async () => {
  const place = folder({ "l.gram": '[l:Library | (stay:Builtin {name: "echo"})]' });
  const library = ToolLibrary.load(join(place, "l.gram"));
  const bound = loads(SHOP).bind(library.tool("findOrder", ({ id }) => id));
  const session = bound.session();
  assert.equal((await session.call("findOrder", { id: "x" })).result, "x");
  assert.deepEqual((await session.call("stay", { nights: 1, price: 2 })).result, { nights: 1, price: 2 });
  assert.throws(() => ToolLibrary.load(join(place, "none.gram")), { code: "ENOENT" });
});

test("calls that were cut off do not run", async () => {
  let runs = 0;
  const session = bindOne(ONE, "f", () => (runs += 1));
  const verdict = await session.call("f", '{"x": 1', { finishReason: "length" });
  assert.equal(verdict.errorType, "reply_cut_off");
  assert.equal(runs, 0);
});

test("functions get what a schema makes of the arguments", async () => {
  const parameters = z.object({ a: z.string().transform((text) => text.length), b: z.string().refine((it) => it !== "no", "is no") });
  const made = tool({ name: "f", parameters: z.object({ a: z.string(), b: z.string() }), execute: ({ a }) => a });
  const library = new ToolLibrary("l").tool("f", ({ a }) => a, { parameters });
  const session = made.specification.bind(library).session();
  assert.equal((await session.call("f", { a: "abc", b: "yes" })).result, 3);
  assert.match((await session.call("f", { a: "abc", b: "no" })).message, /b: is no/);
});

test("arguments of wrong types are named", () => {
  const spec = loads(ONE);
  for (const [work, message] of [
    [() => loads(null), "expected a string as `gram`, found null"],
    [() => load(), "expected a string as `path`, found undefined"],
    [() => load([7]), "expected a string as `path`, found number"],
    [() => spec.compile(), "expected a string as `target`, found undefined"],
    [() => spec.validate(5), "expected a string as `name`, found number"],
    [() => new ToolLibrary(5), "expected a string as `name`, found number"],
    [() => spec.bind({}), "expected a ToolLibrary as `library`"],
    [() => tool({ name: "x" }), "expected a JSON Schema or a schema of zod 4.2 or newer as `parameters`"],
  ]) {
    assert.throws(work, { name: "TypeError", message });
  }
});

test("definitions are derived from schemas", () => {
  const book = tool({
    name: "book",
    description: "Books a room",
    parameters: z.object({ city: z.string().describe("Where"), nights: z.int().min(1).default(1) }),
    execute: ({ city, nights }) => `${nights} nights in ${city}`,
  });
  assert.match(book.gram, /\[book:Tool/);
  assert.match(book.gram, /city::Text \{description: "Where"\}/);
  assert.deepEqual(book.specification.names, ["book"]);
  book.specification.bind(new ToolLibrary("l").tool(book));
  const guest = z.object({ name: z.string() });
  const invite = tool({ name: "invite", parameters: z.object({ guest }), execute: () => 1 });
  const both = specification([book, invite]);
  assert.deepEqual(both.names, ["book", "invite"]);
  both.bind(new ToolLibrary("l").tool(book).tool(invite));
  assert.throws(() => tool({ name: "f", parameters: { "~standard": {} }, execute: () => 1 }), /zod 4\.2/);
});

test("a function approves calls", async () => {
  const spec = loads("[f:Tool | (x::Int)==>(key::Text {secret: true})==>(::Any)]");
  const asked = [];
  const bound = spec.bind(new ToolLibrary("l", { approval: "always", throttle: "off" }).tool("f", () => 1));
  const approve = async (name, given) => {
    asked.push([name, given]);
    if (given.x > 8) throw new Error("cannot decide");
    return [true, false, "not now", null, 7][given.x];
  };
  const session = bound.session({ approve });
  const call = (x) => session.call("f", { x, key: "hunter2-hunter2" });
  assert.equal((await call(0)).ok, true);
  assert.deepEqual(asked, [["f", { x: 0, key: "***" }]]);
  for (const [x, type, message] of [
    [1, "approval_refused", /not approved|refused/],
    [2, "approval_refused", /not now/],
    [3, "approval_required", /approv/],
    [4, "approval_refused", /gave no decision/],
    [9, "approval_refused", /cannot decide/],
  ]) {
    const verdict = await call(x);
    assert.equal(verdict.errorType, type);
    assert.match(verdict.message, message);
  }
  assert.equal((await bound.session().call("f", { x: 0, key: "k" })).errorType, "approval_required");
});

function numbers(settings) {
  const find = ({ n }) => {
    if (n % 2 === 1) throw new Error("no such number");
    return { ok: n !== 100 };
  };
  const library = new ToolLibrary("l", settings).tool("f", find);
  return loads("[f:Tool | (n::Int)==>(::{ok: Bool})]").bind(library).session();
}

const errorTypes = async (session, values) => {
  const types = [];
  for (const n of values) types.push((await session.call("f", { n })).errorType ?? null);
  return types;
};

test("parallel calls and many users are not limited", async () => {
  const session = numbers();
  const parallel = [...Array(8).keys(), ...Array(8).fill(2), ...Array(3).fill(1)];
  const verdicts = await Promise.all(parallel.map((n) => session.call("f", { n })));
  assert.ok(verdicts.every((verdict) => verdict.errorType !== "throttled"));
  for (let user = 0; user < 50; user += 1) {
    assert.deepEqual(await errorTypes(session, [2, 2 * user + 1]), [null, "invocation_error"]);
  }
  // The declared type allows this result.
  assert.deepEqual(await errorTypes(session, Array(5).fill(100)), Array(5).fill(null));
});

test("the fourth of identical failing calls is refused", async () => {
  const [session, other] = [numbers(), numbers()];
  const failed = Array(3).fill("invocation_error");
  assert.deepEqual(await errorTypes(session, [1, 1, 1, 1, 3]), [...failed, "throttled", "invocation_error"]);
  const refused = await session.call("f", "{n: '1'}");
  assert.match(refused.message, /^`f` failed 3 times with the same arguments\. Change the arguments,/);
  assert.deepEqual(await errorTypes(other, [1]), ["invocation_error"]);
  session.beginTurn();
  // Calls of one reply count as one.
  for (let reply = 0; reply < 3; reply += 1) {
    session.beginReply();
    assert.deepEqual(await errorTypes(session, Array(8).fill(1)), Array(8).fill("invocation_error"));
  }
  session.beginReply();
  assert.deepEqual(await errorTypes(session, [1]), ["throttled"]);
});

test("the strict profile limits all calls", async () => {
  const types = await errorTypes(numbers({ throttle: "strict" }), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(types, [...Array(5).fill(null), "throttled"]);
});

test("arguments arrive in pieces", async () => {
  const session = bindOne("[note:Tool | (text::Text)==>(n::Int)==>(::Any)]", "note", ({ text, n }) => [text, n]);
  const text = '{"text": "né😀 \\u00e9\\n", "n": "7"}';
  let call = session.begin("note", { callId: "c1" });
  const values = [];
  for (const byte of new TextEncoder().encode(text)) {
    call.feed(new Uint8Array([byte]));
    values.push(JSON.stringify(call.value));
  }
  assert.equal(values.at(-1), '{"text":"né😀 é\\n","n":7}');
  assert.ok(values.includes('{"text":"né"}'));
  const verdict = await call.finish({ finishReason: "stop" });
  const whole = await session.call("note", text, { callId: "c1", finishReason: "stop" });
  assert.equal(String(verdict), String(whole));
  assert.throws(() => call.feed("}"), /the call has ended/);

  // Providers may split a character, and send deltas.
  call = session.begin("note");
  for (const chunk of [
    '{"text": "\ud83d',
    { type: "input_json_delta", partial_json: "\ude00" },
    { index: 0, function: { arguments: '", ' } },
    { type: "response.function_call_arguments.delta", delta: '"n": 1}' },
  ]) {
    call.feed(chunk);
  }
  assert.deepEqual((await call.finish()).result, ["😀", 1]);
  assert.throws(() => session.begin("note").feed({}), TypeError);
});

test("a call that no continuation makes valid is stopped", () => {
  const session = bindOne("[f:Tool | (x::Int)==>(y::Text)==>(::Any)]", "f", () => null);
  const call = session.begin("f");
  call.feed('{"x": "many"');
  assert.equal(call.error, undefined);
  call.feed(', "y": "');
  assert.equal(call.error.errors[0].pointer, "/x");
  assert.deepEqual(call.value, {});
  assert.match(call.stop().message, /`x` must be an integer/);
  assert.equal(session.begin("g").error.error_type, "unknown_tool");
});

test("values of the session and the call reach functions", async () => {
  const seen = [];
  const gram = "[f:Tool | (id::Int)==>(tenant::Text {injected: true})==>(::Any)]";
  const library = new ToolLibrary("test", { throttle: "off" });
  library.tool("f", ({ id, tenant }, { inject }) => {
    seen.push([id, tenant, inject.user]);
    return inject.missing;
  });
  const bound = loads(gram).bind(library);
  const user = { name: "Ada", self: null, close() {} };
  user.self = user;
  const session = bound.session({ inject: { user, tenant: "a", missing: 1 } });
  assert.equal((await session.call("f", { id: 1 })).result, 1);
  const other = { name: "Eve" };
  const verdict = await session.call("f", { id: 2 }, { inject: { user: other, tenant: "b" } });
  assert.deepEqual(verdict.arguments, { id: 2 });
  assert.deepEqual(seen, [[1, "a", user], [2, "b", other]]);

  const without = await bound.session().call("f", { id: 1 });
  assert.match(without.message, /`tenant`.*`f`|`f`.*`tenant`/s);
  const unnamed = await bound.session({ inject: { tenant: "a" } }).call("f", { id: 1 });
  assert.match(unnamed.message, /`user` of `f` has no value: pass it in `inject` of the session or the call/);
  assert.equal(seen.length, 2);
});

test("functions run in the asynchronous context of the caller", async () => {
  const storage = new AsyncLocalStorage();
  const session = bindOne(ONE, "f", () => storage.getStore());
  const results = ["a", "b"].map((user) => storage.run(user, () => session.call("f", { x: 1 })));
  assert.deepEqual((await Promise.all(results)).map(({ result }) => result), ["a", "b"]);
});

test("exceptions are the cause of the error", async () => {
  const failure = new RangeError("the key s3cret-value is no key");
  const bind = (errorText) => {
    const library = new ToolLibrary("test", { throttle: "off", errorText });
    library.tool("f", () => { throw failure; }, { inject: { key: "s3cret-value" } });
    return loads("[f:Tool | (x::Int)==>(key::Text {injected: true, secret: true})==>(::Any)]").bind(library);
  };
  const bound = bind();
  const verdicts = [];
  const onVerdict = (verdict) => verdicts.push(verdict);
  const verdict = await bound.session({ onVerdict }).call("f", { x: 1 });
  assert.equal(verdict.error.cause, failure);
  assert.match(verdict.message, /RangeError: the key \*+ is no key/);
  assert(!JSON.stringify(verdict).includes("cause") && !JSON.stringify(verdict.error).includes("cause"));
  assert.deepEqual(verdicts, [verdict]);

  const errorText = (error) => `ask the desk about ${error.name} s3cret-value`;
  const { message } = await bind(errorText).session().call("f", { x: 1 });
  assert.match(message, /ask the desk about RangeError \*+/);
  const failing = bind(() => { throw new Error("no text"); }).session();
  assert.match((await failing.call("f", { x: 1 })).message, /no text/);
  assert.equal((await bound.session().call("f", { x: "none" })).error.cause, undefined);

  const stream = bound.session().begin("f", { callId: "c1" });
  stream.feed('{"x": 1}');
  const streamed = await stream.finish();
  assert.deepEqual([streamed.error.cause, streamed.id], [failure, "c1"]);
});

test("misuse has a hint", async () => {
  const session = bindOne("[f:Tool | (id::Int)==>(::Any)]", "f", ({ id }) => id);
  const hint = /`id` is not an option of calls; pass arguments in an object: `call\("f", \{ id: … \}\)`$/;
  await assert.rejects(session.call("f", {}, { id: 7 }), { name: "TypeError", message: hint });
  assert.throws(() => session.validate("f", {}, { id: 7 }), hint);
  assert.throws(() => session.begin("f", { id: 7 }), hint);
  assert.throws(() => session.bound.specification.validate("f", {}, { id: 7 }), hint);
  assert.throws(() => load("/no/such/file.gram"), { code: "ENOENT", message: /no\/such\/file\.gram/ });
  assert.throws(() => ToolLibrary.load("/no/such/file.gram"), { code: "ENOENT" });
  assert.throws(() => session.bound.specification.compile("opena"), /unknown target `opena`.*anthropic.*did you mean `openai`/s);
  const zodLike = { parse: (value) => value, _def: { typeName: "ZodObject" } };
  assert.throws(() => tool({ name: "f", parameters: zodLike, execute: () => 1 }), {
    name: "TypeError",
    message: /^expected a JSON Schema or a schema of zod 4\.2 or newer as `parameters`, found an object with `parse`/,
  });
});

test("calls are spans, and checks are events of them", async () => {
  const ended = [];
  const storage = new AsyncLocalStorage();
  const active = () => storage.getStore() ?? ROOT_CONTEXT;
  const span = (name, attributes) => ({
    name, attributes, events: [],
    isRecording: () => true,
    setAttribute(key, value) { this.attributes[key] = value; },
    setStatus(status) { this.status = status.code; },
    recordException(error) { this.exception = error; },
    addEvent(name, data) { this.events.push([name, data]); },
    end() { ended.push(this); },
  });
  context.setGlobalContextManager({
    active, with: (context, work, self, ...rest) => storage.run(context, () => work.apply(self, rest)),
    bind: (_, target) => target, enable() { return this; }, disable() { return this; },
  });
  trace.setGlobalTracerProvider({
    getTracer: () => ({
      startActiveSpan(name, { attributes }, work) {
        const started = span(name, attributes);
        return context.with(trace.setSpan(active(), started), () => work(started));
      },
    }),
  });
  let current;
  const session = bindOne(ONE, "f", ({ x }) => {
    current = trace.getActiveSpan();
    if (x === 9) throw new RangeError("nine");
    return x;
  });
  await session.call("f", { x: "1" }, { callId: "c1" });
  await session.call("f", { x: 9 });
  await session.call("f", { x: "none" });
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  propagation.setGlobalPropagator({
    inject: (context, carrier) => (carrier.traceparent = trace.getSpan(context) && traceparent),
    extract: (context) => context,
    fields: () => ["traceparent"],
  });
  const place = folder({
    "l.gram": '[l:Library | (f:Command {run: ["printenv", "TRACEPARENT"], signature: "()==>(::Text)"})]',
  });
  const program = loads("[f:Tool | ()==>(::Text)]").bind(ToolLibrary.load(join(place, "l.gram"))).session();
  assert.equal((await program.call("f")).result, traceparent);
  context.disable();
  trace.disable();
  propagation.disable();
  const [repaired, failed, refused] = ended;
  assert.equal(repaired.name, "execute_tool f");
  const attributes = { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "f", "gen_ai.tool.type": "function" };
  assert.deepEqual(repaired.attributes, { ...attributes, "gen_ai.tool.call.id": "c1" });
  const data = { "gen_ai.tool.name": "f", "gramc.repairs": ["text-to-integer x"], "gramc.stripped": [] };
  assert.deepEqual(repaired.events, [["gramc.check", data]]);
  assert.equal(current, failed);
  assert.equal(failed.exception.message, "nine");
  assert.deepEqual([failed.attributes["error.type"], refused.attributes["error.type"]], ["invocation_error", "validation_error"]);
});
