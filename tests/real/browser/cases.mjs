// Uses the list of cases in the report of an experiment: filters, search, pages, transcripts and export. It
// tells as JSON what it saw.
//
// node cases.mjs PACKAGES CHROMIUM PAGE ACTIONS
//
// ACTIONS is a JSON list of steps: {result}, {search}, {tag}, {open: NAME}, {close: true}, {page: TEXT},
// {run: ARM, option: N} and {export: true}. After each step the state of the list is recorded.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const [packages, executablePath, page, actions] = process.argv.slice(2);
const require = createRequire(join(packages, "index.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const address = pathToFileURL(page).href;
const seen = { requests: [], errors: [], violations: [], steps: [] };
const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-background-networking", "--disable-gpu"],
});
try {
  const context = await browser.newContext({ viewport: { width: 900, height: 900 } });
  const tab = await context.newPage();
  tab.on("request", (request) => {
    const url = request.url();
    if (![address].includes(url) && !/^(data|blob):/.test(url)) seen.requests.push(url);
  });
  tab.on("pageerror", (error) => seen.errors.push(String(error)));
  tab.on("console", (line) => line.type() === "error" && seen.errors.push(line.text()));
  await tab.goto(address, { waitUntil: "load" });
  const place = tab.locator("#case-list");
  for (const action of [{}, ...JSON.parse(actions)]) {
    const step = {};
    if ("result" in action) await place.locator(`[data-result="${action.result}"]`).click();
    if ("search" in action) {
      // The list is filtered before the event returns.
      step.milliseconds = await tab.evaluate((text) => {
        const search = document.getElementById("case-search");
        search.value = text;
        const before = performance.now();
        search.dispatchEvent(new Event("input"));
        return performance.now() - before;
      }, action.search);
    }
    if ("tag" in action) await place.locator("#case-tag").selectOption(action.tag);
    if ("page" in action) await place.locator(".pages button", { hasText: action.page }).click();
    if ("open" in action) await place.locator("summary", { hasText: action.open }).first().click();
    if (action.close) await place.locator("details[open] > summary").first().click();
    if ("run" in action) {
      await place.getByLabel(`Run of ${action.run}`).selectOption(String(action.option));
    }
    if (action.export) {
      const wanted = tab.waitForEvent("download");
      await place.locator("#case-export").click();
      const download = await wanted;
      step.file = download.suggestedFilename();
      step.csv = readFileSync(await download.path(), "utf8");
    }
    if (action.open || action.close) await tab.waitForTimeout(50);
    Object.assign(step, await place.evaluate((list) => ({
      status: list.querySelector("[role=status]").textContent,
      chips: [...list.querySelectorAll(".chip:not([hidden])")].map((it) => it.textContent),
      rows: [...list.querySelectorAll("summary")].map((it) =>
        [...it.querySelectorAll(".case, .result, .tag, .rate-of")].map((part) => part.textContent),
      ),
      turns: [...list.querySelectorAll(".turn")].map((it) => it.className.split(" ")[1] + ": " + it.innerText),
      marks: [...list.querySelectorAll("mark")].map((it) => it.textContent),
      elements: list.querySelectorAll("*").length,
    })));
    seen.steps.push(step);
  }
  await tab.evaluate(axe);
  for (const { id, help, nodes } of (await tab.evaluate(() => globalThis.axe.run())).violations) {
    seen.violations.push(`${id}: ${help}: ${nodes[0].html}`);
  }
  seen.title = await tab.title();
  // Without JavaScript.
  const plain = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
  await plain.goto(address, { waitUntil: "load" });
  seen.plain = await plain.locator("main").innerText();
  seen.plots = await plain.locator("svg:visible").count();
} finally {
  await browser.close();
}
console.log(JSON.stringify(seen));
