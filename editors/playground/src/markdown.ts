/** The Markdown of hovers and documentation: paragraphs, code, emphasis, lists and headings. */

/** Adds a text with code, emphasis and links. */
export function inline(parent: HTMLElement, text: string): void {
  for (const part of text.split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)\s]+\))/)) {
    const link = /^\[([^\]]+)\]\((https?:[^)\s]+)\)$/.exec(part);
    if (link) {
      const element = parent.appendChild(document.createElement("a"));
      [element.textContent, element.href, element.target, element.rel] = [link[1]!, link[2]!, "_blank", "noopener"];
    } else if (/^`[^`]+`$/.test(part)) {
      parent.appendChild(document.createElement("code")).textContent = part.slice(1, -1);
    } else if (/^\*\*[^*]+\*\*$/.test(part)) {
      parent.appendChild(document.createElement("strong")).textContent = part.slice(2, -2);
    } else {
      parent.append(part.replace(/^\[([^\]]+)\]\([^)]*\)$/, "$1"));
    }
  }
}

/** Renders a text. HTML in it stays text. */
export function markdown(text: string): HTMLElement {
  const root = document.createElement("div");
  root.className = "markdown";
  for (const block of text.split(/(```[\s\S]*?```)|\n{2,}/)) {
    if (!block?.trim()) continue;
    if (block.startsWith("```")) {
      const code = block.replace(/^```.*\n/, "").replace(/\n?```$/, "");
      root.appendChild(document.createElement("pre")).textContent = code;
    } else if (/^---+\s*$/.test(block.trim())) {
      root.appendChild(document.createElement("hr"));
    } else {
      const element = document.createElement(block.startsWith("#") ? "h4" : "p");
      inline(element, block.trim().replace(/^#+\s*/, ""));
      root.append(element);
    }
  }
  return root;
}
