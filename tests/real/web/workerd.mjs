// Runs the checks in workerd, the runtime of Cloudflare Workers. Usage: node workerd.mjs PACKAGES

import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const { Miniflare } = createRequire(join(resolve(process.argv[2]), "package.json"))("miniflare");
const dist = fileURLToPath(new URL("../../../bindings/gramc-web/dist", import.meta.url));
const own = (file) => readFileSync(new URL(file, import.meta.url), "utf8");
const worker = `
  import { GramcError, load } from "./index.mjs";
  import wasm from "./gramc.wasm";
  import { checkAll } from "./checks.mjs";
  export default {
    async fetch() {
      return new Response(checkAll(await load(wasm), GramcError));
    },
  };
`;
const miniflare = new Miniflare({
  modules: [
    { type: "ESModule", path: "worker.mjs", contents: worker },
    { type: "ESModule", path: "index.mjs", contents: readFileSync(join(dist, "index.mjs"), "utf8") },
    { type: "ESModule", path: "checks.mjs", contents: own("checks.mjs") },
    { type: "CompiledWasm", path: "gramc.wasm", contents: readFileSync(join(dist, "gramc.wasm")) },
  ],
  compatibilityDate: "2026-01-01",
  host: "127.0.0.1",
});
try {
  const response = await miniflare.dispatchFetch("http://localhost/");
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  console.log(text);
} finally {
  await miniflare.dispose();
}
