// Takes the pictures of the manual: pages of a site as a reader sees them.
//
//	pictures.mjs SITE DIR
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { answered, check, close, excerpts, http, open, run } from "./reader.mjs";

const dir = process.argv[3];
mkdirSync(dir, { recursive: true });

const desk = { width: 1200, height: 750 };
const hand = { width: 390, height: 750 };

// find opens the search and waits for its list with excerpts.
async function find(page) {
  await page.keyboard.press("/");
  await page.keyboard.type("draft branch");
  await answered(page);
  await excerpts(page);
}

// drawn waits until a graph has been drawn.
const drawn = (page) => page.waitForTimeout(1000);

const pictures = [
  ["home", "index.html", desk, "light"],
  ["note", "docs/guides/writing.html", desk, "dark"],
  ["search", "index.html", desk, "light", find],
  ["graph", "graph.html", desk, "dark", drawn],
  ["everything", "zoo/everything.html", desk, "light"],
  ["phone", "docs/guides/search.html", hand, "light"],
  ["phone-search", "index.html", hand, "dark", find],
  ["cjk", "zoo/cjk.html", hand, "light"],
  ["rtl", "zoo/rtl.html", hand, "dark"],
];

await run(async () => {
  for (const [name, address, viewport, colorScheme, act] of pictures) {
    const page = await open(http + address, { viewport, colorScheme, deviceScaleFactor: viewport === desk ? 0.75 : 1 });
    check(!(await page.title()).startsWith("Not found"), `${address}: not found`);
    if (act) await act(page);
    await page.screenshot({ path: join(dir, name + ".png") });
    await close(page);
  }
});
