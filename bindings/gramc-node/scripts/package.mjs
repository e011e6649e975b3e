// Packs what was built: the package of this platform, with the native part, and the package `gramc`,
// which depends on those of all platforms. Usage: npm run package -- --out FOLDER [--platform NAME]

import { spawnSync } from "node:child_process";
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const PLATFORMS = {
  "darwin-arm64": { os: ["darwin"], cpu: ["arm64"] },
  "darwin-x64": { os: ["darwin"], cpu: ["x64"] },
  "linux-arm64-gnu": { os: ["linux"], cpu: ["arm64"], libc: ["glibc"] },
  "linux-x64-gnu": { os: ["linux"], cpu: ["x64"], libc: ["glibc"] },
  "win32-x64-msvc": { os: ["win32"], cpu: ["x64"] },
};

const folder = fileURLToPath(new URL("..", import.meta.url));
const { platform } = createRequire(import.meta.url)("../dist/platform.js");
const { values } = parseArgs({ options: { out: { type: "string" }, platform: { type: "string" } } });
const name = values.platform ?? platform();
if (!values.out || !(name in PLATFORMS)) {
  console.error(`usage: npm run package -- --out FOLDER [--platform ${Object.keys(PLATFORMS).join("|")}]`);
  process.exit(2);
}
const out = resolve(values.out);
mkdirSync(out, { recursive: true });

/** Packs a folder with a package. */
function pack(place, description) {
  writeFileSync(join(place, "package.json"), `${JSON.stringify(description, null, 2)}\n`);
  for (const file of ["LICENSE-APACHE", "LICENSE-MIT"]) {
    copyFileSync(join(folder, "../..", file), join(place, file));
  }
  const options = ["pack", "--ignore-scripts", "--pack-destination", out];
  const { status } = spawnSync("npm", options, { cwd: place, stdio: ["ignore", "ignore", "inherit"] });
  rmSync(place, { recursive: true });
  if (status !== 0) process.exit(1);
}

const whole = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
const { version, license, repository } = whole;
const ofPlatform = mkdtempSync(join(tmpdir(), "gramc-pack-"));
copyFileSync(join(folder, "dist/gramc.node"), join(ofPlatform, "gramc.node"));
writeFileSync(join(ofPlatform, "README.md"), `# gramc-${name}\n\nThe native part of gramc for ${name}.\n`);
const description = `The native part of gramc for ${name}`;
const shared = { version, description, license, repository, main: "gramc.node", files: ["gramc.node"] };
pack(ofPlatform, { name: `gramc-${name}`, ...shared, engines: whole.engines, ...PLATFORMS[name] });

const main = mkdtempSync(join(tmpdir(), "gramc-pack-"));
for (const part of ["bin", "dist", "README.md"]) cpSync(join(folder, part), join(main, part), { recursive: true });
rmSync(join(main, "dist/gramc.node"));
const { devDependencies, scripts, ...published } = whole;
const platforms = Object.keys(PLATFORMS).map((it) => [`gramc-${it}`, version]);
pack(main, { ...published, optionalDependencies: Object.fromEntries(platforms) });
