// Builds the playground into `dist`, a folder that any web server can serve. `bindings/gramc-web/build` comes
// first, since it writes the WebAssembly module. Usage: node build.mjs

import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const folder = fileURLToPath(new URL(".", import.meta.url));
const dist = join(folder, "dist");
rmSync(dist, { recursive: true, force: true });
mkdirSync(dist);
for (const file of ["index.html", "icon.svg", "manifest.webmanifest"]) copyFileSync(join(folder, file), join(dist, file));
copyFileSync(join(folder, "../../bindings/gramc-web/dist/gramc.wasm"), join(dist, "gramc.wasm"));

const options = {
  absWorkingDir: folder,
  outdir: dist,
  bundle: true,
  minify: true,
  format: "esm",
  target: "es2022",
  loader: { ".gram": "text" },
  logLevel: "warning",
};
await build({ ...options, entryPoints: ["src/main.ts", "src/worker.ts", "style.css"], entryNames: "[name]" });

// The service worker knows all files, and changes with any of them.
const files = readdirSync(dist).sort();
const hash = createHash("sha256");
for (const file of files) hash.update(file).update(readFileSync(join(dist, file)));
const define = { FILES: JSON.stringify(["./", ...files]), VERSION: JSON.stringify(hash.digest("hex").slice(0, 16)) };
await build({ ...options, entryPoints: ["src/sw.ts"], format: "iife", define });
