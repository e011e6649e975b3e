// Indented JSON.

/** A token of JSON: a string, a bracket, a comma, a colon, or a number or word. */
const TOKEN = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s[\]{},:"]+/g;

/**
 * Indents JSON, with one key or item per line. All tokens are kept: `1.50` stays `1.50`.
 */
export function laidOut(json: string): string {
  const tokens = json.match(TOKEN) ?? [];
  let text = "";
  let depth = 0;
  const line = (): string => "\n" + "  ".repeat(depth);
  tokens.forEach((token, at) => {
    const before = tokens[at - 1] ?? "";
    if (token === "}" || token === "]") {
      depth -= 1;
      text += (before === "{" || before === "[" ? "" : line()) + token;
      return;
    }
    if (before === "{" || before === "[" || before === ",") {
      text += line();
    }
    text += token === ":" ? ": " : token;
    if (token === "{" || token === "[") {
      depth += 1;
    }
  });
  return text + "\n";
}
