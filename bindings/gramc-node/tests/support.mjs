// What most tests share.

import { loads, ToolLibrary } from "gramc";

export const SHOP = `
[findOrder:Tool {description: "Finds an order"} | (id::Text)==>(::Any)]
[stay:Tool | (nights::Int {range: 1..30})==>(price::Number)==>(::Number)]
`;

export const ONE = "[f:Tool | (x::Int)==>(::Any)]";

/** A session for a specification of one tool. */
export function bindOne(gram, name, implementation, options) {
  const library = new ToolLibrary("test", { throttle: "off" });
  library.tool(name, implementation, options);
  return loads(gram).bind(library).session();
}

export const sleep = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));
