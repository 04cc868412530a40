// Looks for barriers with axe-core on each kind of page, in light and dark, wide
// and narrow.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { answered, ask, browser, check, close, each, excerpts, http, narrow, open, run, wide } from "./reader.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const pages = process.argv[3].split(" ");

async function look(page, name, what) {
  const from = page.url();
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => axe.run({ runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] }));
  for (const v of violations) check(false, `${name} (${what}): ${v.id}: ${v.nodes.map((n) => n.html.slice(0, 160)).slice(0, 3).join(" | ")}`);
  const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(over <= 0, `${name} (${what}): it is ${over} pixels wider than the window`);
  check(page.url() === from, `${name}: it went to ${page.url()}`);
}

// ready brings a page to where a reader has it.
async function ready(page, name) {
  if (name.startsWith("search.html")) {
    await answered(page);
    await excerpts(page);
  }
  if (await page.locator("pre.mermaid").count()) await page.waitForSelector("figure.diagram img");
  if (name.startsWith("graph")) await page.waitForSelector("#kb-graph canvas");
}

async function dialog(page, what) {
  await page.keyboard.press("/");
  await look(page, "search open", what);
  await ask(page, "quokka");
  await excerpts(page);
  await look(page, "search with results", what);
  await ask(page, "xqzvbnqwxz");
  await look(page, "search without results", what);
}

await run(async () => {
  const views = [["light", wide], ["dark", narrow], ["dark", wide], ["light", narrow]].slice(0, process.argv[4] ? 4 : 2);
  const jobs = views.flatMap(([colorScheme, viewport]) => [...pages, ""].map((name) => ({ name, colorScheme, viewport })));
  await each(jobs, async ({ name, colorScheme, viewport }) => {
    const what = `${colorScheme}, ${viewport.width}`;
    const page = await open(http + name, { colorScheme, viewport, bypassCSP: true, reducedMotion: "reduce" });
    if (name) {
      await ready(page, name);
      await look(page, name, what);
    } else {
      await dialog(page, what);
    }
    if (name && viewport === narrow && name === pages[0]) {
      await page.locator("button.menu").click();
      await look(page, "contents open", what);
    }
    await close(page);
  });
});
