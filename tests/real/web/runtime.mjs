// Runs the checks in Node.js, Deno or Bun.

import { GramcError, load } from "../../../bindings/gramc-web/dist/index.mjs";
import { checkAll } from "./checks.mjs";

console.log(checkAll(await load(), GramcError));
