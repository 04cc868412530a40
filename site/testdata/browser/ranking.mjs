// Types queries into the search of a site and prints the pages of the first ten
// results of each, one query a line.
import { readFileSync } from "node:fs";
import { answered, close, http, open, results, run } from "./reader.mjs";

await run(async () => {
  const page = await open(http + "index.html");
  await page.keyboard.press("/");
  for (const query of JSON.parse(readFileSync(process.argv[3], "utf8"))) {
    await page.locator("#kb-search-input").fill("");
    await page.keyboard.type(query);
    await answered(page);
    const pages = (await results(page).evaluateAll((all) => all.map((a) => new URL(a.href).pathname))).map((p) => decodeURIComponent(p.slice(1)));
    console.log(JSON.stringify(pages));
  }
  await close(page);
});
