// Opens the pages of a reference in a browser, as a desktop and as a phone, light and dark, and tells as
// JSON what it saw: requests, errors, what axe finds, links that lead nowhere, and what the search found.
//
// node reference.mjs PACKAGES CHROMIUM FOLDER QUERY [SCREENSHOTS]
import { pathToFileURL } from "node:url";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { inEachView } from "./views.mjs";

const [packages, executablePath, folder, query, screenshots] = process.argv.slice(2);
const pages = readdirSync(folder).filter((name) => name.endsWith(".html"));
const seen = { pages: 0, requests: [], errors: [], violations: [], overflow: [], broken: [] };
const address = (name) => pathToFileURL(join(folder, name)).href;
await inEachView(packages, executablePath, seen, async ({ tab, expect, open, check }) => {
  for (const name of pages) {
    await open(address(name));
    seen.pages += 1;
    for (const summary of await tab.locator("summary").all()) await summary.click();
    const links = await tab.evaluate(() =>
      [...document.querySelectorAll("a")].map((a) => a.getAttribute("href") ?? ""),
    );
    const broken = links.filter((link) => link === "" || !existsSync(join(folder, link)));
    seen.broken.push(...broken.map((link) => `${name}: ${link}`));
    await check(name, screenshots);
  }
  await open(address("index.html"));
  await tab.keyboard.press("/");
  await tab.keyboard.type(query);
  const found = tab.locator("li[data-words]:visible a");
  seen.found = await found.allInnerTexts();
  seen.said = await tab.locator("#found").innerText();
  const first = expect(address(await found.first().getAttribute("href")));
  await tab.keyboard.press("Enter");
  await tab.waitForURL(first);
  seen.opened = await tab.locator("h1").innerText();
});
console.log(JSON.stringify(seen));
