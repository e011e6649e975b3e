/** JSON text, with all digits of its numbers. */

/** Indents a text. A container that fits into a line stays on it. */
export function indent(text: string, width = 72): string {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  let at = 0;
  const value = (depth: number): string => {
    const open = tokens[at++] ?? "";
    if (open !== "{" && open !== "[") return open;
    const items: string[] = [];
    while (at < tokens.length && !"}]".includes(tokens[at]!)) {
      if (tokens[at] === ",") at++;
      const key = tokens[at + 1] === ":" ? `${tokens[(at += 2) - 2]}: ` : "";
      items.push(key + value(depth + 1));
    }
    const close = tokens[at++] ?? "";
    const line = `${open}${items.join(", ")}${close}`;
    if (!items.length || (line.length + 2 * depth <= width && !line.includes("\n"))) return line;
    const start = `\n${"  ".repeat(depth + 1)}`;
    return `${open}${start}${items.join(`,${start}`)}\n${"  ".repeat(depth)}${close}`;
  };
  return value(0);
}
