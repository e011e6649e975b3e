// Packages the extension for one platform, with a `gramc` of its own:
//   npm run package-for -- linux-x64 ../../target/release/gramc

import { spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";

const [target, binary] = process.argv.slice(2);
if (!target || !binary) {
  console.error("usage: npm run package-for -- TARGET PATH-OF-GRAMC");
  process.exit(2);
}

function run(command, ...args) {
  const { status } = spawnSync(command, args, { stdio: "inherit", shell: process.platform === "win32" });
  if (status !== 0) process.exit(status ?? 1);
}

for (const script of ["check", "grammar", "bundle"]) run("npm", "run", script);
const name = target.startsWith("win32") ? "gramc.exe" : "gramc";
rmSync("server", { recursive: true, force: true });
mkdirSync("server");
copyFileSync(binary, join("server", name));
chmodSync(join("server", name), 0o755);
run("npx", "vsce", "package", "--no-dependencies", "--target", target, "--out", `gram-tools-${target}.vsix`);
rmSync("server", { recursive: true });
