// Builds the package into `dist`: the native part with cargo, the rest with tsc. The entry `gramc/web` and the
// playground are copied if they are built: by `bindings/gramc-web/build` and `editors/playground/build.mjs`. Arguments, such as
// `--release`, `--profile NAME` and `--target TRIPLE`, are those of `cargo build`. In each profile, the native part has no symbol table.

import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { generateTypeDef } from "@napi-rs/cli";
import typescript from "typescript";

const folder = fileURLToPath(new URL("..", import.meta.url));
const dist = join(folder, "dist");

/** Runs a program and returns its output. */
function run(program, options, environment = {}) {
  const { status, stdout, error } = spawnSync(program, options, {
    cwd: folder,
    env: { ...process.env, ...environment },
    stdio: ["ignore", "pipe", "inherit"],
    encoding: "utf8",
    maxBuffer: 64 << 20,
  });
  if (error) throw error;
  if (status !== 0) {
    process.stdout.write(stdout);
    process.exit(status ?? 1);
  }
  return stdout;
}

/** Builds the library, and returns its file. The macros of napi write its types to a folder. */
function library(types) {
  const options = ["rustc", "--package", "gramc-node", "--lib", ...process.argv.slice(2)];
  // What is built already writes no types.
  const environment = { NAPI_TYPE_DEF_TMP_FOLDER: types, NAPI_FORCE_BUILD_GRAMC_NODE: `${Date.now()}` };
  const format = "--message-format=json-render-diagnostics";
  const messages = run("cargo", [...options, format, "--", "-C", "strip=symbols"], environment).split("\n").filter(Boolean);
  const artifacts = messages.map((line) => JSON.parse(line)).filter((it) => it.target?.name === "gramc_node");
  return artifacts.at(-1).filenames.find((file) => /\.(so|dylib|dll)$/.test(file));
}

/**
 * Writes the adapters as ES modules, too: the frameworks exist twice where they are imported in both
 * ways, so an adapter has to import its framework as the program does.
 */
function esModules() {
  const { transpileModule, ModuleKind, ScriptTarget } = typescript;
  const compilerOptions = { module: ModuleKind.ESNext, target: ScriptTarget.ES2022 };
  for (const file of readdirSync(join(folder, "lib/adapters"))) {
    const source = readFileSync(join(folder, "lib/adapters", file), "utf8");
    const { outputText } = transpileModule(source, { compilerOptions });
    const output = join(dist, "adapters", file.slice(0, -".ts".length));
    const types = readFileSync(`${output}.d.ts`, "utf8");
    for (const [suffix, text] of [[".mjs", outputText], [".d.mts", types]]) {
      writeFileSync(output + suffix, text.replaceAll('"./session-tools.js"', '"./session-tools.mjs"'));
    }
  }
}

const types = mkdtempSync(join(tmpdir(), "gramc-types-"));
const built = library(types);
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
copyFileSync(built, join(dist, "gramc.node"));
const { dts } = await generateTypeDef({ typeDefDir: types, cwd: folder, noDtsHeader: true, constEnum: false });
rmSync(types, { recursive: true });
// tsc reads them in `lib` and leaves them there.
for (const place of ["lib", "dist"]) writeFileSync(join(folder, place, "addon.d.ts"), dts);
const require = createRequire(import.meta.url);
run(process.execPath, [require.resolve("typescript/bin/tsc")]);
esModules();
for (const [built, place] of [["../gramc-web/dist", "web"], ["../../editors/playground/dist", "playground"]]) {
  if (existsSync(join(folder, built))) cpSync(join(folder, built), join(dist, place), { recursive: true });
}
// `gramc playground` serves the module of `gramc/web`.
rmSync(join(dist, "playground/gramc.wasm"), { force: true });
