// Opens the report of an experiment in a browser, as a desktop and as a phone, light and dark, and
// tells as JSON what it saw: requests, errors, what axe finds, and a transcript that was expanded.
//
// node report.mjs PACKAGES CHROMIUM PAGE [SCREENSHOTS]
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const [packages, executablePath, page, screenshots] = process.argv.slice(2);
const require = createRequire(join(packages, "index.js"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const profile = mkdtempSync(join(tmpdir(), "gramc-browser-"));
const address = pathToFileURL(page).href;
const seen = { requests: [], errors: [], violations: [], overflow: [], expanded: [] };
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
      tab.on("request", (request) => {
        const url = request.url();
        if (url !== address && !url.startsWith("data:")) seen.requests.push(url);
      });
      tab.on("pageerror", (error) => seen.errors.push(String(error)));
      tab.on("console", (line) => line.type() === "error" && seen.errors.push(line.text()));
      await tab.goto(address, { waitUntil: "load" });
      const won = tab.locator('#case-list [data-result="0"]');
      if ((await won.count()) > 0) {
        await won.click();
        const first = tab.locator("#case-list details").first();
        const before = await first.locator(".turns").count();
        await first.locator("summary").click();
        await first.locator(".turn").first().waitFor();
        seen.expanded.push(before === 0 ? await first.locator(".turns").innerText() : "");
      }
      const wide = await tab.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      if (wide > 0) seen.overflow.push({ width, wide });
      await tab.evaluate(axe);
      const found = await tab.evaluate(() => globalThis.axe.run());
      for (const { id, help, nodes } of found.violations) {
        seen.violations.push(`${width} ${colorScheme}: ${id}: ${help}: ${nodes[0].html}`);
      }
      if (screenshots) {
        await tab.screenshot({ path: join(screenshots, `${width}-${colorScheme}.png`), fullPage: true });
      }
      await context.close();
    }
  }
} finally {
  rmSync(profile, { recursive: true, force: true });
}
console.log(JSON.stringify(seen));
