// Prints the tokens of texts with their scopes, as VS Code's own library finds them:
//   node scopes.cjs MODULES GRAMMAR FILE…
// Each token is a line: its scopes without the language's own, and its text.

const fs = require("node:fs");
const path = require("node:path");

const [modules, grammarPath, ...files] = process.argv.slice(2);
const load = (name) => require(path.join(path.resolve(modules), name));
const oniguruma = load("vscode-oniguruma");
const textmate = load("vscode-textmate");

/** All regular expressions of a grammar, wherever they stand. */
function expressions(rule) {
  if (rule === null || typeof rule !== "object") {
    return [];
  }
  const own = ["match", "begin", "end", "while"].map((key) => rule[key]);
  return [
    ...own.filter((found) => typeof found === "string"),
    ...Object.values(rule).flatMap(expressions),
  ];
}

async function main() {
  const wasm = path.join(modules, "vscode-oniguruma/release/onig.wasm");
  await oniguruma.loadWASM(fs.readFileSync(wasm));
  const text = fs.readFileSync(grammarPath, "utf8");
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
      createOnigString: (string) => new oniguruma.OnigString(string),
    }),
    loadGrammar: async (scope) => {
      switch (scope) {
        case "source.gram":
          return textmate.parseRawGrammar(text, grammarPath);
        case "markdown.gram.codeblock": {
          const name = "gram-markdown.tmLanguage.json";
          const injected = path.join(path.dirname(grammarPath), name);
          return textmate.parseRawGrammar(fs.readFileSync(injected, "utf8"), injected);
        }
        case "text.html.markdown":
          return {scopeName: "text.html.markdown", patterns: [], repository: {}};
        case "source.json":
          // A small one in the place of the editor's.
          return {
            scopeName: "source.json",
            patterns: [{match: '"[^"]*"', name: "string.json"}],
            repository: {},
          };
        default:
          return null;
      }
    },
    getInjections: (scope) => scope === "text.html.markdown" ? ["markdown.gram.codeblock"] : [],
  });
  // The library passes over what it cannot compile, so each is compiled on its own.
  for (const expression of expressions(JSON.parse(text))) {
    new oniguruma.OnigScanner([expression]);
  }
  for (const file of files) {
    const isMarkdown = path.extname(file) === ".md";
    const scope = isMarkdown ? "text.html.markdown" : "source.gram";
    const grammar = await registry.loadGrammar(scope);
    let stack = textmate.INITIAL;
    for (const line of fs.readFileSync(file, "utf8").split("\n")) {
      const tokenized = grammar.tokenizeLine(line, stack);
      stack = tokenized.ruleStack;
      for (const token of tokenized.tokens) {
        const piece = line.slice(token.startIndex, token.endIndex);
        if (piece.trim() !== "") {
          const scopes = token.scopes.slice(1).map((scope) => scope.replace(/\.gram$/, ""));
          console.log(`${scopes.join(" ") || "-"}\t${piece.trim()}`);
        }
      }
    }
    console.log(`= ${stack.depth}`);
  }
}

main().catch((error) => {
  console.error(error);
  process.exitCode = 1;
});
