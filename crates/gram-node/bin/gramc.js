#!/usr/bin/env node
"use strict";

// The command line of gramc.
const { native } = require("../dist/native.js");

native.setStartCommand([process.execPath, __filename]);
process.exit(native.run(["gramc", ...process.argv.slice(2)]));
