// Opens a site whose notes try to run scripts and to call other hosts, from a
// server and from the disk: nothing runs, and no request leaves.
import { readFileSync } from "node:fs";
import { answered, ask, browser, check, disk, each, http, results, run, wide } from "./reader.mjs";

const { notes, diagrams, lists, files, hovers, queries } = JSON.parse(readFileSync(process.argv[3], "utf8"));

// canary is set by what runs. It stands in the pages before anything of theirs.
function canary() {
  window.ran = [];
  for (const name of ["alert", "confirm", "prompt", "print", "open"]) window[name] = (...args) => window.ran.push(name + "(" + args + ")");
  addEventListener("securitypolicyviolation", (e) => window.ran.push(`${e.violatedDirective} stopped ${e.blockedURI} ${e.sample}`));
}

// visitor is a window that watches.
async function visitor(kind) {
  const context = await browser.newContext({ viewport: wide, reducedMotion: "reduce" });
  await context.addInitScript(canary);
  const page = await context.newPage();
  const own = (url) => url.startsWith(kind === "http" ? http : disk) || /^(data|blob):/.test(url) || url === "about:srcdoc";
  context.on("requestfinished", (r) => check(own(r.url()), `${page.url()} (${kind}): asks for ${r.url()}`));
  context.on("requestfailed", (r) => check(own(r.url()) || r.failure().errorText === "csp", `${page.url()} (${kind}): asks for ${r.url()}: ${r.failure().errorText}`));
  context.on("page", (p) => check(p === page, `${page.url()} (${kind}): opens ${p.url()}`));
  page.on("dialog", (d) => (check(false, `${page.url()} (${kind}): shows ${d.type()} ${d.message()}`), d.dismiss()));
  page.on("pageerror", (e) => check(false, `${page.url()} (${kind}): ${e}`));
  return page;
}

// quiet checks that nothing ran. In the frame that draws, the policy is what stops
// diagrams from loading pictures.
async function quiet(page, what) {
  for (const frame of page.frames()) {
    const draws = frame !== page.mainFrame();
    for (const did of await frame.evaluate(() => window.ran || ["the canary is gone"])) check(draws && did.startsWith("img-src stopped"), `${what}: ${did}`);
  }
}

async function visit(page, address) {
  await page.goto(address);
  await quiet(page, address);
  check(new URL(page.url()).pathname === new URL(address).pathname, `${address} leads to ${page.url()}`);
}

async function draw(page, address) {
  await page.goto(address);
  await page.evaluate(() => document.querySelectorAll("pre.mermaid").forEach((pre) => pre.scrollIntoView()));
  await page.waitForFunction(() => [...document.querySelectorAll("pre.mermaid")].every((p) => p.scrollIntoView() || p.closest("figure.diagram") || p.previousElementSibling?.className === "notice"), undefined, { timeout: 60000 });
  await quiet(page, address);
}

// seek has every title and excerpt in the list of results.
async function seek(page, kind) {
  await page.keyboard.press("/");
  await ask(page, "wombat");
  for (let n = 0; n < notes.length; ) {
    await page.locator("#kb-search-results li").nth(n).waitFor();
    await results(page).evaluateAll((all, from) => all.slice(from).forEach((a) => a.scrollIntoView()), n);
    n = await results(page).count();
    if (!(await page.locator(".finder-more").isVisible())) break;
    await page.locator(".finder-more").click();
    await page.locator("#kb-search-results li").nth(n).waitFor();
  }
  check((await results(page).count()) >= notes.length, `${kind}: the search lists ${await results(page).count()} of ${notes.length} notes`);
  await page.waitForFunction(() => [...document.querySelectorAll("#kb-search-results a > span")].filter((s) => s.textContent).length > 20);
  await quiet(page, kind + ": results");
  for (const q of queries) {
    await ask(page, q);
    await quiet(page, `${kind}: results of ${q}`);
  }
}

// point lets previews appear.
async function point(page, link) {
  await link.scrollIntoViewIfNeeded();
  await link.hover();
  const shown = await page.waitForSelector(".preview", { timeout: 5000 }).catch(() => null);
  await quiet(page, `the preview of ${await link.getAttribute("href")}`);
  await page.mouse.move(0, 0);
  return !!shown;
}

async function pointAll(page) {
  await page.goto(http + lists[0]);
  const count = await page.locator("main .list a").count();
  let shown = 0;
  for (let i = 0; i < hovers; i++) shown += await point(page, page.locator("main .list a").nth(Math.floor((i * count) / hovers)));
  check(shown > hovers / 2, `${shown} of ${hovers} previews were shown`);
}

async function graph(page) {
  await page.waitForSelector("#kb-graph canvas");
  await page.locator("#kb-graph canvas").focus();
  for (const key of ["ArrowRight", "ArrowDown", "ArrowLeft", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
  await quiet(page, "the graph");
}

await run(async () => {
  for (const [kind, at] of [["http", http], ["disk", disk]]) {
    const jobs = [
      ...notes.map((n) => (page) => visit(page, at + n)),
      ...lists.map((n) => (page) => visit(page, at + n)),
      ...files.map((n) => (page) => visit(page, at + n)),
      ...diagrams.map((n) => (page) => draw(page, at + n)),
      async (page) => (await visit(page, at + "index.html"), seek(page, kind)),
      async (page) => (await visit(page, at + "graph.html"), graph(page)),
    ];
    for (const q of queries) jobs.push(async (page) => (await page.goto(at + "search.html?q=" + encodeURIComponent(q)), await answered(page), quiet(page, kind + ": search.html?q=" + q)));
    for (const q of queries) jobs.push(async (page) => visit(page, at + notes[0] + "?mark=" + encodeURIComponent(q) + "#" + q));
    if (kind === "http") jobs.push(pointAll);
    const pages = await Promise.all(Array.from({ length: 3 }, () => visitor(kind)));
    await each(jobs.reverse(), async (job) => {
      const page = pages.pop();
      await job(page);
      pages.push(page);
    });
    await Promise.all(pages.map((p) => p.context().close()));
  }
});
