// Tries a built site in a browser: node bench/site.mjs SITE [SCREENSHOTS | --bytes]
//
// It checks the search by hand's moves, from a server and from the disk, looks for
// barriers with axe-core in light and dark, and counts the bytes that searches take over
// the wire. It needs Chromium (CHROMIUM, by default /usr/bin/chromium) and, in the
// directory it is run from, npm install playwright-core axe-core. It fails when
// something is wrong; figures are for a reader. With --bytes it only counts.
import { createServer } from "node:http";
import { existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";

const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const site = resolve(process.argv[2]);
const onlyBytes = process.argv[3] === "--bytes";
const shots = onlyBytes ? "" : process.argv[3];
if (shots) mkdirSync(shots, { recursive: true });

const types = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml", json: "application/json" };
let sent = []; // files that were asked for, with their compressed size
const server = createServer((request, response) => {
  let name = decodeURIComponent(new URL(request.url, "http://x").pathname).slice(1);
  if (name === "" || name.endsWith("/")) name += "index.html";
  const file = join(site, name);
  if (!file.startsWith(site) || !existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404, { "content-type": types.html }).end(readFileSync(join(site, "404.html")));
    return;
  }
  const body = gzipSync(readFileSync(file));
  sent.push([name, body.length]);
  response.writeHead(200, { "content-type": types[name.split(".").pop()] || "text/plain; charset=utf-8", "content-encoding": "gzip", "cache-control": "max-age=3600" }).end(body);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const base = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });

let faults = 0;
function check(ok, what) {
  if (ok) return;
  faults++;
  console.error("FAULT " + what);
}

// titles are of notes, which are searched for.
const titles = [...readFileSync(join(site, "llms.txt"), "utf8").matchAll(/^- \[(.+?)\]\((.+?)\.md\)/gm)].map((m) => ({ title: m[1], page: m[2] + ".html" }));
const word = (s) => (s.match(/\p{L}{5,}/u) || [s])[0];

// open opens a page; what it says on the console is a fault.
async function open(address, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
  const page = await context.newPage();
  page.on("console", (m) => check(m.type() !== "error" && m.type() !== "warning", `${address}: console: ${m.text()}`));
  page.on("pageerror", (e) => check(false, `${address}: ${e}`));
  await page.goto(address);
  return page;
}

const results = (page) => page.locator("#kb-search-results a");
const settled = (page) => page.waitForFunction(() => document.querySelector(".finder-status, #kb-search .finder-status")?.textContent, undefined, { timeout: 60000 });

async function ask(page, query) {
  await page.locator("#kb-search-input").fill("");
  await page.waitForFunction(() => !document.querySelector(".finder-status").textContent);
  await page.locator("#kb-search-input").fill(query);
  await settled(page);
}

async function shot(page, name) {
  if (shots) await page.screenshot({ path: join(shots, name + ".png") });
}

// moves tries the dialog and the page as a reader does.
async function moves(at, kind) {
  const some = titles[Math.floor(titles.length / 2)];
  const page = await open(at + "index.html");
  await page.keyboard.press("/");
  check(await page.locator("dialog.finder").isVisible(), `${kind}: / opens no search`);
  await page.keyboard.type(some.title);
  await settled(page);
  check((await results(page).count()) > 0, `${kind}: ${some.title} finds nothing`);
  await page.waitForFunction(() => document.querySelector("#kb-search-results span:not(:empty)"), undefined, { timeout: 30000 });
  await shot(page, kind + "-dialog");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("ArrowUp");
  const active = await page.locator("#kb-search-input").getAttribute("aria-activedescendant");
  check(active === "kb-result-0", `${kind}: arrows select ${active}`);
  await page.keyboard.press("Escape");
  if (await page.locator("dialog.finder").isVisible()) await page.keyboard.press("Escape"); // the first may empty the field
  check(!(await page.locator("dialog.finder").isVisible()), `${kind}: Escape does not close`);
  await page.keyboard.press("Control+k");
  check(await page.locator("dialog.finder").isVisible(), `${kind}: Ctrl+K opens no search`);
  await ask(page, "xqzvbnqwxz");
  check((await page.locator(".finder-status").textContent()).includes("Nothing found"), `${kind}: nothing found is not said`);
  await page.locator("#kb-search-input").fill(some.title);
  await page.keyboard.press("Enter"); // before the list is there
  await page.waitForURL((u) => !u.pathname.endsWith("index.html"), { timeout: 30000 }).catch(() => check(false, `${kind}: Enter leads nowhere`));
  await page.waitForLoadState();
  await shot(page, kind + "-result");

  const own = await open(at + "search.html?q=" + encodeURIComponent(some.title));
  await settled(own);
  check((await results(own).count()) > 0, `${kind}: search.html finds nothing`);
  await ask(own, word(some.title));
  if (kind === "http") check(own.url().includes("?q=" + encodeURIComponent(word(some.title))), `${kind}: the address says ${own.url()}`);
  await shot(own, kind + "-page");
  await page.context().close();
  await own.context().close();
}

// barriers runs axe-core on pages of each kind.
async function barriers(colorScheme, viewport) {
  const pages = ["index.html", titles[0].page, titles[titles.length >> 1].page, "all.html", "tags.html", "recent.html", "graph.html", "404.html", "search.html?q=" + encodeURIComponent(word(titles[0].title))];
  for (const name of [...pages, "dialog"]) {
    const page = await open(base + (name === "dialog" ? "index.html" : name), { colorScheme, viewport, bypassCSP: true });
    if (name === "dialog") {
      await page.keyboard.press("/");
      await ask(page, word(titles[0].title));
    }
    if (name === "dialog" || name.startsWith("search")) await page.waitForFunction(() => document.querySelector("#kb-search-results span:not(:empty)"), undefined, { timeout: 30000 });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => axe.run());
    for (const v of violations) check(false, `${name} (${colorScheme}, ${viewport.width}): ${v.id}: ${v.nodes.map((n) => n.html.slice(0, 120)).slice(0, 3).join(" | ")}`);
    await shot(page, `${name.replace(/\W+/g, "-")}-${colorScheme}-${viewport.width}`);
    await page.context().close();
  }
}

const kilobytes = (files) => files.reduce((sum, [, size]) => sum + size, 0) / 1000;
const isText = ([name]) => /\/q\/text/.test(name);
const spread = (list) => {
  list.sort((a, b) => a - b);
  const at = (q) => list[Math.min(list.length - 1, Math.floor(q * list.length))].toFixed(1);
  return `median ${at(0.5)}, nine in ten under ${at(0.9)}, most ${at(1)} KB`;
};

// bytes counts what a page, the first list of results, the next, and their
// excerpts take.
async function bytes() {
  const figures = { "home page": [], "to the first list": [], "its excerpts": [], "to the next list": [], "next excerpts": [], "to a list for a misspelt word": [] };
  for (let i = 0; i < 12; i++) {
    const of = (k) => titles[Math.floor(((i + k / 3) / 12) * titles.length)].title.split(/\s+/).slice(0, 3).join(" ");
    sent = [];
    const page = await open(base + "index.html");
    await page.waitForLoadState("networkidle");
    figures["home page"].push(kilobytes(sent));
    const measure = async (query, list, excerpts) => {
      sent = [];
      await ask(page, query);
      await page.waitForLoadState("networkidle");
      await page.waitForTimeout(300);
      figures[list].push(kilobytes(sent.filter((f) => !isText(f))));
      figures[excerpts]?.push(kilobytes(sent.filter(isText)));
    };
    sent = [];
    await page.keyboard.press("/");
    await page.waitForLoadState("networkidle");
    const before = sent;
    await measure(of(0), "to the first list", "its excerpts");
    figures["to the first list"].push(figures["to the first list"].pop() + kilobytes(before));
    await measure(of(1), "to the next list", "next excerpts");
    const long = word(of(2));
    await measure(long.slice(0, 2) + long.slice(3), "to a list for a misspelt word");
    await page.context().close();
  }
  for (const [what, list] of Object.entries(figures)) console.log(`${what}: ${spread(list)}`);
}

if (!onlyBytes) {
  await moves(base, "http");
  await moves(pathToFileURL(site).href + "/", "file");
  for (const scheme of ["light", "dark"]) {
    await barriers(scheme, { width: 1280, height: 800 });
    await barriers(scheme, { width: 360, height: 740 });
  }
}
await bytes();
await browser.close();
server.close();
console.log(faults ? `${faults} faults` : "no faults");
process.exitCode = faults ? 1 : 0;
