/** Loads the native part of the package. */

import { existsSync } from "node:fs";
import { join } from "node:path";

import type * as Addon from "./addon.js";
import { platform } from "./platform.js";

function load(): typeof Addon {
  // In a checkout, `npm run build` writes it here.
  const built = join(__dirname, "gramc.node");
  if (existsSync(built)) return require(built);
  const name = `gramc-${platform()}`;
  try {
    return require(name);
  } catch (cause) {
    const message =
      `cannot load the package ${name}: it is an optional dependency of gramc, which ` +
      "`npm install --include=optional` installs if gramc supports the platform";
    throw new Error(message, { cause });
  }
}

/** The native part. */
export const native = load();

native.setStartCommand([process.execPath, join(__dirname, "../bin/gramc.js")]);
