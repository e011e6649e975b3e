/** The state of the page, which the fragment of its address contains. */

export interface State {
  text: string;
  target: string;
  tool: string;
  arguments: string;
  old: string;
  view: string;
}

async function pipe(bytes: Uint8Array<ArrayBuffer>, through: GenericTransformStream): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(through);
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Writes a state as a fragment. */
export async function encode(state: State): Promise<string> {
  const json = new TextEncoder().encode(JSON.stringify(state));
  const bytes = await pipe(json, new CompressionStream("deflate-raw"));
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return `#s=${btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "")}`;
}

/** Reads a fragment: a state, the text of a specification (`#text=`), or nothing. */
export async function decode(fragment: string): Promise<Partial<State>> {
  const parameters = new URLSearchParams(fragment.slice(1));
  const text = parameters.get("text");
  if (text !== null) return { text };
  const state = parameters.get("s");
  if (!state) return {};
  try {
    const binary = atob(state.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = await pipe(Uint8Array.from(binary, (c) => c.charCodeAt(0)), new DecompressionStream("deflate-raw"));
    const read: unknown = JSON.parse(new TextDecoder().decode(bytes));
    const entries = Object.entries(read ?? {}).filter(([, value]) => typeof value === "string");
    return Object.fromEntries(entries);
  } catch {
    // The address was cut off.
    return {};
  }
}
