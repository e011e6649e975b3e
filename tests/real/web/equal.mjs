// Whether gramc/web gives the results of the command line, byte for byte: for all examples, calls of
// tests/parity, and tools of the Berkeley Function Calling Leaderboard. Usage: node equal.mjs GRAMC

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";

import { load } from "../../../bindings/gramc-web/dist/index.mjs";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const program = process.argv[2];
const gramc = await load();
const folder = mkdtempSync(join(tmpdir(), "gramc-web-"));
const counts = {};

/** Runs the command line. Diagnostics end it with 1, and 2 is a failure. */
function run(options, input) {
  const ended = spawnSync(program, options, { cwd: root, encoding: "utf8", input, maxBuffer: 1 << 28 });
  return { ...ended, lines: ended.stdout.split("\n").filter(Boolean) };
}

function equal(what, actual, expected) {
  counts[what] = (counts[what] ?? 0) + 1;
  if (actual === expected) return;
  let at = 0;
  while (actual[at] === expected[at]) at++;
  const shown = (text) => JSON.stringify(text.slice(Math.max(0, at - 60), at + 100));
  throw new Error(`${what}: at ${at}\n  gramc/web:    ${shown(actual)}\n  command line: ${shown(expected)}`);
}

/** The items of a JSON array, each as it is written. */
function items(json) {
  const texts = [];
  let [depth, start] = [0, 1];
  for (const { 0: token, index } of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
    if ("{[".includes(token)) depth++;
    if ("}]".includes(token)) depth--;
    if ((token === "," && depth === 1) || depth === 0) {
      texts.push(json.slice(start, index));
      start = index + 1;
    }
  }
  return texts.filter(Boolean);
}

/** The message of the error that a function throws. */
function refuse(use) {
  try {
    use();
  } catch (error) {
    return error.message;
  }
  throw new Error("gramc/web accepts what the command line refuses");
}

function compileAll(what, source, file) {
  for (const { name } of gramc.targets()) {
    const { status, stdout, stderr } = run(["compile", file, "--target", name]);
    if (status !== 0) {
      const failed = refuse(() => gramc.compile(source, { target: name }));
      const message = `gramc: ${failed.replace("name a type", "name a type with --type")}\n`;
      equal(`${what}: failures`, message, stderr.slice(-message.length));
      continue;
    }
    const compiled = gramc.compile(source, { target: name });
    equal(`${what} compiled`, compiled.text, stdout);
    // Warnings of the check come first.
    const losses = run(["compile", file, "--target", name, "--losses", "--format", "json"]).lines;
    const own = compiled.losses.map(({ effect, message, ...loss }) => loss);
    equal(`${what}: losses`, JSON.stringify(own), JSON.stringify(losses.map((line) => JSON.parse(line)).filter((it) => "became" in it)));
  }
}

/** Compares a specification with another version of it: wider ranges, required parameters, other numbers. */
function compareVersions(what, file, text) {
  const wider = text.replace(/\.\.(\d+)/g, (_, number) => `..${Number(number) + 1}`).replace(/::Int\b/g, "::Number");
  // Defaults may lack fields that are required.
  for (const changed of [wider.replace(/\(([a-z]\w*)\?::/g, "($1::"), wider]) {
    const changedFile = join(folder, "changed.gram");
    writeFileSync(changedFile, changed);
    const { stdout } = run(["diff", file, changedFile]);
    if (!stdout) continue;
    const compared = gramc.diff({ name: file, text }, { name: changedFile, text: changed });
    return equal(`${what} compared`, compared.text, stdout);
  }
}

function imports(folder, text) {
  const names = [...text.matchAll(/^\{[^}]*imports: \[([^\]]*)\]/gm)].flatMap((it) => [...it[1].matchAll(/"([^"]+)"/g)]);
  return Object.fromEntries(names.map(([, name]) => [join(folder, name), readFileSync(join(root, folder, name), "utf8")]));
}

const examples = readdirSync(join(root, "examples"), { recursive: true, withFileTypes: true });
for (const entry of examples.filter((it) => it.name.endsWith(".gram"))) {
  const place = relative(root, entry.parentPath);
  const file = join(place, entry.name);
  const text = readFileSync(join(root, file), "utf8");
  const source = { name: file, text, imports: imports(place, text) };
  const checked = run(["check", file, "--format", "json"]).lines;
  equal("checked examples", items(gramc.request("check", { source })).join("\n"), checked.join("\n"));
  equal("formatted examples", gramc.format(text), run(["fmt", "-"], text).stdout);
  if (checked.some((line) => JSON.parse(line).severity === "error")) continue;
  compileAll("examples", source, file);
  if (!text.includes("imports:")) compareVersions("examples", file, text);
}

const parity = join(root, "tests/parity");
const calls = readFileSync(join(parity, "calls.jsonl"), "utf8").trim().split("\n");
const specification = { text: readFileSync(join(parity, "spec.gram"), "utf8") };
for (const target of [undefined, "openai-strict", "gemini"]) {
  const options = target ? ["--target", target] : [];
  const verdicts = run(["validate", join(parity, "spec.gram"), "--calls", join(parity, "calls.jsonl"), ...options]).lines;
  for (const [at, line] of calls.entries()) {
    const { name, arguments: given, id } = JSON.parse(line);
    const text = given === undefined || typeof given === "string" ? given : JSON.stringify(given);
    equal("calls", gramc.request("validate", { source: specification, name, arguments: text, id, target }), verdicts[at]);
  }
}

const TYPES = { dict: "object", float: "number", tuple: "array", list: "array" };

/** A schema of the leaderboard, whose types are those of Python, as JSON Schema. */
function schema(python) {
  if (typeof python !== "object" || !python) return python;
  const entries = Object.entries(python).filter(([key, value]) => key !== "optional" && !(key === "type" && value === "any"));
  return Object.fromEntries(entries.map(([key, value]) => {
    if (key === "type") return [key, TYPES[value] ?? value];
    if (key === "properties") return [key, Object.fromEntries(Object.entries(value).map(([name, part]) => [name, schema(part)]))];
    return [key, ["items", "additionalProperties"].includes(key) ? schema(value) : value];
  }));
}

const data = join(root, ".tools/retrieval/bfcl_eval/data");
const tools = new Map();
for (const name of readdirSync(data).filter((it) => /_(simple_python|multiple|live_simple|live_multiple)\.json$/.test(it))) {
  for (const line of readFileSync(join(data, name), "utf8").trim().split("\n")) {
    for (const { name, description, parameters } of JSON.parse(line).function) {
      tools.set(name, { name, description, inputSchema: schema(parameters) });
    }
  }
}
const chosen = [...tools.values()].slice(0, 800);
if (chosen.length < 616) throw new Error(`only ${chosen.length} real tools`);
const [json, gram] = [join(folder, "tools.json"), join(folder, "tools.gram")];
writeFileSync(json, JSON.stringify({ tools: chosen }));
const imported = gramc.import(readFileSync(json, "utf8"), { name: "tools" });
equal("imported files", imported.text, run(["import", json]).stdout);
writeFileSync(gram, imported.text);
counts["real tools"] = chosen.length;
compileAll("real tools", { name: gram, text: imported.text }, gram);
compareVersions("real tools", gram, imported.text);
compareVersions("calls", join(parity, "spec.gram"), specification.text);

console.log(JSON.stringify(counts));
