// Opens pages of a reference in a browser, wide and narrow, light and dark, and tells as JSON what it saw:
// requests, errors, what axe finds, links that lead nowhere, and what the search found.
//
// node reference.mjs PACKAGES CHROMIUM FOLDER QUERY [SCREENSHOTS]
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [packages, executablePath, folder, query, screenshots] = process.argv.slice(2);
const require = createRequire(join(packages, "index.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const profile = mkdtempSync(join(tmpdir(), "gramc-browser-"));
const pages = readdirSync(folder).filter((name) => name.endsWith(".html"));
const seen = { pages: 0, requests: [], errors: [], violations: [], overflow: [], broken: [], found: [], opened: "" };
const address = (name) => pathToFileURL(join(folder, name)).href;
try {
  for (const width of [1200, 380]) {
    for (const colorScheme of ["light", "dark"]) {
      const context = await chromium.launchPersistentContext(profile, {
        executablePath,
        headless: true,
        colorScheme,
        viewport: { width, height: 900 },
        args: ["--no-sandbox", "--disable-background-networking", "--disable-gpu"],
      });
      const tab = await context.newPage();
      let current = "";
      tab.on("request", (request) => {
        const url = request.url();
        if (url !== current && !url.startsWith("data:")) seen.requests.push(url);
      });
      tab.on("pageerror", (error) => seen.errors.push(String(error)));
      tab.on("console", (line) => line.type() === "error" && seen.errors.push(line.text()));
      for (const name of pages) {
        current = address(name);
        await tab.goto(current, { waitUntil: "load" });
        seen.pages += 1;
        for (const summary of await tab.locator("summary").all()) await summary.click();
        const wide = await tab.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        if (wide > 0) seen.overflow.push({ name, width, wide });
        const links = await tab.evaluate(() => [...document.querySelectorAll("a")].map((a) => a.getAttribute("href")));
        for (const link of links) if (!existsSync(join(folder, link))) seen.broken.push(`${name}: ${link}`);
        await tab.evaluate(axe);
        const found = await tab.evaluate(() => globalThis.axe.run());
        for (const { id, help, nodes } of found.violations) {
          seen.violations.push(`${name} ${width} ${colorScheme}: ${id}: ${help}: ${nodes[0].html}`);
        }
        if (screenshots) {
          await tab.screenshot({ path: join(screenshots, `${name}-${width}-${colorScheme}.png`), fullPage: true });
        }
      }
      current = address("index.html");
      await tab.goto(current, { waitUntil: "load" });
      await tab.keyboard.press("/");
      await tab.keyboard.type(query);
      seen.found = await tab.locator("li[data-words]:visible a").allInnerTexts();
      seen.said = await tab.locator("#found").innerText();
      current = address(await tab.locator("li[data-words]:visible a").first().getAttribute("href"));
      await tab.keyboard.press("Enter");
      await tab.waitForURL(current);
      seen.opened = await tab.locator("h1").innerText();
      await context.close();
    }
  }
} finally {
  rmSync(profile, { recursive: true, force: true });
}
console.log(JSON.stringify(seen));
