// Uses the playground as a person would, offline at last, and tells as JSON what it saw: what axe finds, pages
// wider than the window, errors, and the times from a keystroke to its results.
//
// node playground.mjs PACKAGES CHROMIUM ADDRESS [SCREENSHOTS]

import { createRequire } from "node:module";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { inEachView } from "../browser/views.mjs";

const [packages, executablePath, address, screenshots] = process.argv.slice(2);
const { chromium } = createRequire(join(packages, "index.js"))("playwright-core");
const seen = { requests: [], errors: [], violations: [], overflow: [] };

function assert(condition, what) {
  if (!condition) throw new Error(`failed: ${what}`);
}

/** Waits until a part of the page contains a text. */
async function expectText(tab, selector, text) {
  const has = ([selector, text]) => document.querySelector(selector)?.textContent.includes(text);
  await tab.waitForFunction(has, [selector, text], { timeout: 20_000 }).catch(async () => {
    throw new Error(`${selector} lacks ${JSON.stringify(text)}: ${await tab.locator(selector).innerText()}`);
  });
}

async function ready(tab) {
  await tab.waitForSelector("body[data-ready]", { timeout: 60_000 });
}

/** Replaces the text of an editor by typing. */
async function write(tab, id, text) {
  await tab.locator(`#${id} .cm-content`).click();
  await tab.keyboard.press("Control+a");
  await tab.keyboard.insertText(text);
}

async function use(context) {
  const tab = await context.newPage();
  tab.on("pageerror", (error) => seen.errors.push(String(error)));
  tab.on("console", (line) => line.type() === "error" && seen.errors.push(line.text()));
  await tab.goto(address);
  await ready(tab);
  await expectText(tab, "#result", '"strict": true');

  // An error, and its fix.
  await write(tab, "text", "[book:Tool | (city::Text)==>(nights::Itn {range: 1..30})==>(::Text)]");
  await expectText(tab, "#problems", "unknown-type");
  await tab.locator("#problems .fix").first().click();
  await expectText(tab, "#text", "nights::Int {range: 1..30}");
  await expectText(tab, "#problems", "0 errors");

  // Completion and hover.
  await tab.locator("#text .cm-content").click();
  await tab.keyboard.press("Control+End");
  await tab.keyboard.type("\n[c:Tool | (a::Boo");
  await tab.locator(".cm-tooltip-autocomplete li", { hasText: "Boolean" }).first().waitFor();
  await tab.keyboard.press("Escape");
  await write(tab, "text", "[book:Tool | (city::Text)==>(nights::Int {range: 1..30})==>(::Text)]");
  await tab.locator("#text .t-type", { hasText: "Int" }).first().hover();
  await tab.locator(".cm-tooltip .markdown").waitFor();
  await tab.mouse.move(0, 0);

  // Four targets.
  const targets = [["JSON Schema", '"minimum": 1'], ["Anthropic", '"input_schema"'], ["Gemini", "functionDeclarations"], ["TypeScript", "nights: number"]];
  for (const [chip, text] of targets) {
    await tab.locator("#chips button", { hasText: new RegExp(`^${chip}$`) }).click();
    await expectText(tab, "#result", text);
  }
  await tab.locator("#target").selectOption("gemini");
  await expectText(tab, "#losses", "loss");

  // A call that breaks and is repaired, and one that is refused.
  await tab.locator("nav [data-view=call]").click();
  await expectText(tab, "#verdict", "Accepted");
  await tab.locator("#break").click();
  await expectText(tab, "#verdict", "Repaired");
  await expectText(tab, "#verdict", "The function receives");
  await write(tab, "arguments", '{"city": "Vienna", "nights": 90}');
  await expectText(tab, "#verdict", "`nights` must be an integer from 1 to 30, got 90");

  // Two versions.
  await tab.locator("nav [data-view=compare]").click();
  await tab.locator("#release").click();
  await write(tab, "text", "[book:Tool | (city::Text)==>(nights::Int {range: 1..14})==>(::Text)]");
  await expectText(tab, "#changes", "nights allowed 1 to 30 and now allows 1 to 14");
  await expectText(tab, "#changes", "major version");

  // Another browser sees the same page.
  await tab.locator("#share").click();
  await tab.waitForFunction(() => location.hash.startsWith("#s="));
  const shared = tab.url();
  const other = await context.newPage();
  await other.goto(shared);
  await ready(other);
  await expectText(other, "#changes", "now allows 1 to 14");
  await other.close();

  // Without a network.
  await tab.waitForFunction(() => navigator.serviceWorker.controller !== null);
  await context.setOffline(true);
  await tab.reload();
  await ready(tab);
  await expectText(tab, "#changes", "now allows 1 to 14");
  await context.setOffline(false);

  // The time from a keystroke to its results, for 20 tools.
  const tool = (at) => `/** Books a room */\n[book${at}:Tool |\n  (city::Text {description: "Name of the city"})\n  ==>(nights::Int {range: 1..30, description: "Number of nights"})\n  ==>(room?::"single" | "double" {description: "Kind of room"})\n  ==>(::{id: Text, euros: Number})\n]\n`;
  await tab.locator("nav [data-view=output]").click();
  await write(tab, "text", Array.from({ length: 20 }, (_, at) => tool(at)).join("\n"));
  await expectText(tab, "#status", "20 tools");
  await tab.evaluate(() => performance.clearMeasures());
  await tab.locator("#text .cm-content").click();
  await tab.keyboard.press("Control+End");
  for (const key of "// A comment of some length.") {
    await tab.keyboard.press(key === " " ? "Space" : key);
    await tab.waitForTimeout(40);
  }
  await tab.waitForTimeout(300);
  const times = await tab.evaluate(() => performance.getEntriesByType("measure").map((it) => it.duration));
  times.sort((one, other) => one - other);
  assert(times.length > 5, "keystrokes are measured");
  seen.median = times[Math.floor(times.length / 2)];
  seen.slowest = times.at(-1);
}

const profile = mkdtempSync(join(tmpdir(), "gramc-playground-"));
const context = await chromium.launchPersistentContext(profile, {
  executablePath,
  viewport: { width: 1440, height: 900 },
  args: ["--no-sandbox", "--disable-background-networking", "--disable-gpu"],
});
try {
  await use(context);
} finally {
  await context.close();
  rmSync(profile, { recursive: true, force: true });
}

/** Shows each pane. */
async function look({ tab, open, check }) {
  await open(address);
  await ready(tab);
  for (const view of ["editor", "output", "call", "compare"]) {
    const button = tab.locator(`nav [data-view=${view}]`);
    if (!(await button.isVisible())) continue;
    await button.click();
    if (view === "call") await tab.locator("#break").click();
    await tab.waitForTimeout(300);
    await check(view, screenshots);
  }
}
await inEachView(packages, executablePath, seen, look, [1440, 400]);
console.log(JSON.stringify({ ...seen, requests: seen.requests.filter((url) => !url.startsWith(new URL(address).origin)) }));
