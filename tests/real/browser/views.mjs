// Opens pages as a desktop and as a phone, light and dark, and collects what is wrong with them.
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/// Calls `visit` for each view, and adds to the lists of `seen`: requests, errors, what axe finds in what
/// `check` is called for, and pages that are wider than the window.
export async function inEachView(packages, executablePath, seen, visit, widths = [1200, 380]) {
  const require = createRequire(join(packages, "index.js"));
  const { chromium } = require("playwright-core");
  const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
  const profile = mkdtempSync(join(tmpdir(), "gramc-browser-"));
  try {
    for (const width of widths) {
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
        const expect = (address) => (current = address);
        const open = (address) => tab.goto(expect(address), { waitUntil: "load" });
        const check = async (name, screenshots) => {
          const wide = await tab.evaluate(
            () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
          );
          if (wide > 0) seen.overflow.push({ name, width, wide });
          await tab.evaluate(axe);
          const found = await tab.evaluate(() => globalThis.axe.run());
          for (const { id, help, nodes } of found.violations) {
            seen.violations.push(`${name} ${width} ${colorScheme}: ${id}: ${help}: ${nodes[0].html}`);
          }
          if (screenshots) {
            const path = join(screenshots, `${name}-${width}-${colorScheme}.png`);
            await tab.screenshot({ path, fullPage: true });
          }
        };
        await visit({ tab, expect, open, check });
        await context.close();
      }
    }
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}
