// Preloaded into a Node program (`node --require loopback.cjs …`): whatever address it wants to
// listen on, it listens on 127.0.0.1. Once it listens it says so on standard error, in the line
// `listening on 127.0.0.1:PORT`, so that the port may be 0, which lets the system choose.

"use strict";

const net = require("node:net");

const listen = net.Server.prototype.listen;

net.Server.prototype.listen = function listenOnLoopback(...given) {
  const ready = given.find((argument) => typeof argument === "function");
  const [first] = given;
  const options = typeof first === "object" && first !== null ? { ...first } : { port: first };
  const port = typeof options.port === "function" ? 0 : Number(options.port ?? 0);
  if (options.path !== undefined || Number.isNaN(port)) {
    throw new Error("only ports may be listened on");
  }
  options.port = port;
  options.host = "127.0.0.1";
  this.once("listening", () => {
    process.stderr.write(`listening on 127.0.0.1:${this.address().port}\n`);
  });
  return listen.call(this, options, ...(ready ? [ready] : []));
};
