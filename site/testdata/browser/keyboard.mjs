// Walks through a site with the keys alone.
import { answered, ask, check, close, disk, excerpts, http, narrow, open, results, run, status } from "./reader.mjs";

const note = process.argv[3];
const title = process.argv[4];

const focus = (page) => page.evaluate(() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const r = e.getBoundingClientRect();
  const s = getComputedStyle(e);
  const at = document.elementFromPoint(Math.min(innerWidth - 1, Math.max(0, r.left + Math.min(r.width / 2, 20))), Math.min(innerHeight - 1, Math.max(0, r.top + Math.min(r.height / 2, 8))));
  window.walked ||= [];
  const known = window.walked.includes(e);
  window.walked.push(e);
  return {
    html: e.outerHTML.slice(0, 100),
    known,
    shown: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 1,
    seen: r.width > 0 && r.height > 0 && r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth && !!at && (e.contains(at) || at.contains(e)),
  };
});

// order goes through all stops of a page: each is seen and marked, none is a trap.
async function order(page, what) {
  const stops = await page.evaluate(() => [...document.querySelectorAll("a[href],button,input,summary,canvas[tabindex]")]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && e.tabIndex >= 0 && !e.disabled).length);
  let [n, ends] = [0, 0];
  for (; n <= 2 * stops + 20; n++) {
    await page.keyboard.press("Tab");
    const f = await focus(page);
    if (!f && ++ends < 3) continue; // from the end of the page to its beginning
    if (!f || f.known) break;
    check(f.shown, `${what}: the focus is not marked on ${f.html}`);
    check(f.seen, `${what}: the focus is out of sight on ${f.html}`);
  }
  check(n - ends >= stops, `${what}: Tab comes to ${n - ends} of ${stops} stops`);
  check(n <= 2 * stops + 20, `${what}: Tab does not come round`);
}

async function skip(page) {
  await page.keyboard.press("Tab");
  check(await page.evaluate(() => document.activeElement.className === "skip"), "the first stop is not the link to the text");
  await page.keyboard.press("Enter");
  check(await page.evaluate(() => document.activeElement.id === "main" || location.hash === "#main"), "the link to the text does not lead there");
  await page.keyboard.press("Tab");
  check(await page.evaluate(() => !!document.activeElement.closest("main")), "after the link to the text, Tab is not in the text");
}

const field = (page) => page.evaluate(() => document.activeElement?.id);

// search opens the search, chooses and goes, and closes it.
async function search(page, kind) {
  const link = page.locator("main a[href]").first();
  await link.focus();
  await page.keyboard.press("/");
  check(await page.locator("dialog.finder").isVisible() && (await field(page)) === "kb-search-input", `${kind}: / opens no search`);
  await page.keyboard.press("Escape");
  check(!(await page.locator("dialog.finder").isVisible()), `${kind}: Escape does not close the search`);
  check(await link.evaluate((a) => a === document.activeElement), `${kind}: the focus does not return to where it was`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type(title);
  await answered(page);
  await page.keyboard.press("Escape");
  check(!(await page.locator("dialog.finder").isVisible()), `${kind}: Escape does not close the search with a query`);
  check(await link.evaluate((a) => a === document.activeElement), `${kind}: the focus does not return after a query`);
  await page.keyboard.press("/");
  await answered(page);
  await excerpts(page);
  const places = await page.locator("#kb-search-results small").allTextContents();
  const inView = places.slice(0, 3); // of which the texts were loaded, and the dates
  check(places.length > 0 && places.every((s) => /^(docs|zoo)( \/ [^/]+)*( · 2024-0.*)?$/.test(s)) && inView.every((s) => s.includes(" · 2024-0")), `${kind}: results are in ${places.join("; ")}`);
  const active = () => page.locator("#kb-search-input").getAttribute("aria-activedescendant");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  check((await active()) === "kb-result-1", `${kind}: two arrows select ${await active()}`);
  await page.keyboard.press("ArrowUp");
  check((await active()) === "kb-result-0", `${kind}: an arrow up selects ${await active()}`);
  await page.keyboard.press("ArrowUp");
  check((await active()) === null, `${kind}: an arrow up from the first selects ${await active()}`);
  await page.keyboard.press("ArrowUp");
  check((await active()) === `kb-result-${(await results(page).count()) - 1}`, `${kind}: the arrows do not go round`);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  check(await page.evaluate(() => document.activeElement === document.body || !!document.activeElement.closest("dialog.finder")), `${kind}: Tab leaves the open search`);
  await page.locator("#kb-search-input").focus();
  await ask(page, "xqzvbnqwxz");
  check((await status(page)).includes("Nothing found"), `${kind}: it is not said that nothing is found`);
}

// goes opens a result, which is a part of a note.
async function goes(page, kind) {
  await page.locator("#kb-search-input").fill("");
  await page.keyboard.type("numbats eat termites");
  await answered(page);
  await excerpts(page);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL((u) => u.hash === "#food").catch(() => check(false, `${kind}: Enter leads to ${page.url()}`));
  await page.waitForFunction(() => document.querySelector("main mark"), undefined, { timeout: 10000 }).catch(() => check(false, `${kind}: what was sought is not marked`));
  const top = await page.evaluate(() => document.getElementById("food").getBoundingClientRect().top);
  check(top > 40 && top < 300, `${kind}: the heading is at ${top}`);
}

async function before(page) { // before the list is there
  await page.keyboard.press("/");
  await page.keyboard.type(title);
  await page.keyboard.press("Enter");
  await page.waitForURL((u) => !u.pathname.endsWith("/graph.html")).catch(() => check(false, "Enter at once leads nowhere"));
}

async function graph(page) {
  await page.locator("#kb-graph canvas").focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowLeft");
  const said = () => page.locator("#kb-graph [aria-live]").textContent();
  check(await said(), "the graph says no note at an arrow");
  await page.keyboard.press("+");
  await page.keyboard.press("-");
  await page.keyboard.press("0");
  const chosen = await said();
  await page.keyboard.press("Enter");
  await page.waitForURL((u) => !u.pathname.endsWith("/graph.html")).catch(() => check(false, "the graph opens no note"));
  check((await page.locator("h1").first().textContent()).includes(chosen), `the graph opens ${page.url()}, not ${chosen}`);
}

async function theme(page) {
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const was = await ground();
  await page.locator("button.theme").focus();
  await page.keyboard.press("Enter");
  const now = await ground();
  check(was !== now, "the theme does not change");
  await page.reload();
  check((await ground()) === now, "the theme is not remembered");
  await page.locator("button.theme").focus();
  await page.keyboard.press("Space");
  check((await ground()) === was, "the theme does not change back");
}

async function contents(page) {
  const menu = page.locator("button.menu");
  await menu.focus();
  await page.keyboard.press("Enter");
  check((await menu.getAttribute("aria-expanded")) === "true", "the contents do not open");
  await page.keyboard.press("Tab");
  check(await page.evaluate(() => !!document.activeElement.closest("#nav, .top")), "Tab does not come to the contents");
  await page.keyboard.press("Escape");
  check((await menu.getAttribute("aria-expanded")) === "false", "Escape does not close the contents");
  check(await menu.evaluate((b) => b === document.activeElement), "the focus does not return to the button of the contents");
}

async function folds(page) {
  const toggle = page.locator("#nav .toggle[aria-expanded=false]").first();
  await toggle.focus();
  await page.keyboard.press("Enter");
  check(await page.evaluate(() => document.activeElement.getAttribute("aria-expanded") === "true"), "a folder does not open");
}

const calm = { reducedMotion: "reduce" };

await run(async () => {
  for (const [kind, at] of [["http", http], ["disk", disk]]) {
    const page = await open(at + "index.html", calm);
    if (kind === "http") await skip(page);
    await search(page, kind);
    await goes(page, kind);
    await close(page);
  }
  for (const name of ["index.html", note, "all.html", "graph.html", "search.html"]) {
    for (const view of [{}, { viewport: narrow }]) {
      const page = await open(http + name, { ...calm, ...view });
      await page.waitForSelector("#nav .tree", { state: "attached" });
      await order(page, `${name}${view.viewport ? ", narrow" : ""}`);
      await close(page);
    }
  }
  const page = await open(http + note, calm);
  await theme(page);
  await page.waitForSelector("#nav .toggle");
  await folds(page);
  await page.goto(http + "graph.html");
  await page.waitForSelector("#kb-graph canvas");
  await graph(page);
  await page.goto(http + "graph.html");
  await before(page);
  await close(page);
  const small = await open(http + note, { ...calm, viewport: narrow });
  await contents(small);
  await close(small);
});
