#!/usr/bin/env node
"use strict";

// The command line of gramc.
const { join } = require("node:path");

const { native } = require("../dist/native.js");

// The files of `gramc playground`.
process.env.GRAMC_PLAYGROUND ??= join(__dirname, "../dist/playground");

// Node has handlers of its own for these signals, which would call those of gramc, and be called by them.
for (const signal of ["SIGHUP", "SIGINT", "SIGTERM"]) {
  const handler = () => {};
  process.on(signal, handler).removeListener(signal, handler);
}
process.exit(native.run(["gramc", ...process.argv.slice(2)]));
