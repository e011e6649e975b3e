// Opens the report of an experiment in a browser, as a desktop and as a phone, light and dark, and
// tells as JSON what it saw: requests, errors, what axe finds, and a transcript that was expanded.
//
// node report.mjs PACKAGES CHROMIUM PAGE [SCREENSHOTS]
import { pathToFileURL } from "node:url";
import { inEachView } from "./views.mjs";

const [packages, executablePath, page, screenshots] = process.argv.slice(2);
const seen = { requests: [], errors: [], violations: [], overflow: [], expanded: [] };
await inEachView(packages, executablePath, seen, async ({ tab, open, check }) => {
  await open(pathToFileURL(page).href);
  const won = tab.locator('#case-list [data-result="0"]');
  if ((await won.count()) > 0) {
    await won.click();
    const first = tab.locator("#case-list details").first();
    const before = await first.locator(".turns").count();
    await first.locator("summary").click();
    await first.locator(".turn").first().waitFor();
    seen.expanded.push(before === 0 ? await first.locator(".turns").innerText() : "");
  }
  await check("report", screenshots);
});
console.log(JSON.stringify(seen));
