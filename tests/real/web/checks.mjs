// What gramc/web does, for any runtime of JavaScript.

function assert(condition, what) {
  if (!condition) throw new Error(`failed: ${what}`);
}

const STAYS = "[book:Tool | (city::Text)==>(nights::Int {range: 1..30})==>(::Text)]";

/** Uses all operations. Throws where a result is another one. */
export function checkAll(gramc, GramcError) {
  const [found] = gramc.check("[now:Tool | ()==>(::Dte)]");
  assert(found.code === "unknown-type" && found.fixes[0].edits[0].text === "Date", "check");
  assert(gramc.format("[now:Tool|()==>(::Text)]") === "[now:Tool | ()==>(::Text)]\n", "format");
  const { text, losses } = gramc.compile(STAYS, { target: "openai-strict" });
  assert(JSON.parse(text)[0].function.strict === true && Array.isArray(losses), "compile");
  assert(gramc.compile(STAYS, { target: "typescript" }).text.includes("nights: number"), "TypeScript");
  const imported = gramc.import('{"name": "x", "input_schema": {"type": "object", "properties": {"a": {"type": "integer"}}}}');
  assert(imported.text.includes("[x:Tool |"), "import");
  const { changes, version } = gramc.diff(STAYS, STAYS.replace("30", "14"));
  assert(version === "major" && changes[0].breaking === true && changes[0].witness.nights === 15, "diff");
  const repaired = gramc.validate(STAYS, "book", "{'city': 'Wien', 'nights': '3',}");
  assert(repaired.ok && repaired.arguments.nights === 3 && repaired.repairs.length > 0, "repair");
  const refused = gramc.validate(STAYS, "book", { city: "Wien", nights: 90 });
  assert(!refused.ok && refused.message.includes("`nights` must be an integer from 1 to 30, got 90"), "refusal");
  const schema = { type: "object", properties: { limits: { type: "object", additionalProperties: { type: "integer" } } } };
  const lowered = gramc.lower(schema, "openai-strict");
  assert(lowered.schema.additionalProperties === false && lowered.losses.some((it) => it.effect === "wider"), "lower");
  assert(lowered.restore({ limits: '{"cpu": 2}' }).limits.cpu === 2, "restore");
  assert(gramc.explain("unknown-type").startsWith("# "), "explain");
  assert(gramc.tools(STAYS)[0].name === "book" && gramc.example(STAYS, "book").nights >= 1, "tools");
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params: { capabilities: {} } };
  assert(gramc.languageServer(initialize)[0].result.capabilities.hoverProvider === true, "language server");
  const textDocument = { uri: "inmemory:a.gram", languageId: "gram", version: 1, text: "[now:Tool | ()==>(::Dte)]" };
  const opened = gramc.languageServer({ jsonrpc: "2.0", method: "textDocument/didOpen", params: { textDocument } });
  assert(opened[0].params.diagnostics[0].code === "unknown-type", "diagnostics of the language server");
  try {
    gramc.compile("[now:Tool", { target: "openai" });
    assert(false, "errors");
  } catch (error) {
    assert(error instanceof GramcError && error.diagnostics.length > 0, "errors");
  }
  // Deep texts are answers or errors, and the module goes on.
  for (const open of ["[", "{", "(a::{b: ", '{"a":']) {
    for (const use of [() => gramc.check(open.repeat(50_000)), () => gramc.validate(STAYS, "book", open.repeat(50_000)), () => gramc.import(open.repeat(50_000))]) {
      try {
        use();
      } catch (error) {
        assert(error instanceof Error, "deep texts");
      }
    }
  }
  assert(gramc.validate(STAYS, "book", { city: "Wien", nights: 3 }).ok, "after deep texts");
  return "ok";
}
