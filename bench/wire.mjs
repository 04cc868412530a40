// Asks the search of a built site in a browser: node bench/wire.mjs KIND SITE QUESTIONS
//
// KIND is kb, or pagefind for a site with Pagefind's default interface. QUESTIONS is a
// file of JSON: {"pairs": [[first, next], …], "ranked": [query, …]}. It prints, as JSON,
// the kilobytes that go over the wire for the home page, to the first list of results,
// page included, and to the next one, each in a browser that has loaded nothing; and
// the pages that each ranked query finds, at most ten. It needs Chromium (CHROMIUM, by
// default /usr/bin/chromium) and playwright-core, installed beside it.
import { createServer } from "node:http";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const [, , kind, dir, questions] = process.argv;
const site = resolve(dir);
const { pairs, ranked } = JSON.parse(readFileSync(questions, "utf8"));

const types = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml", json: "application/json", wasm: "application/wasm" };
let sent = []; // files that were asked for, with their size on the wire
const server = createServer((request, response) => {
  let name = decodeURIComponent(new URL(request.url, "http://x").pathname).slice(1);
  if (name === "" || name.endsWith("/")) name += "index.html";
  const file = join(site, name);
  if (!file.startsWith(site) || !existsSync(file) || !statSync(file).isFile()) {
    response.writeHead(404).end();
    return;
  }
  const raw = readFileSync(file);
  const packed = gzipSync(raw);
  const small = packed.length < raw.length;
  const body = small ? packed : raw;
  sent.push([name, body.length]);
  response.writeHead(200, { "content-type": types[name.split(".").pop()] || "application/octet-stream", ...(small && { "content-encoding": "gzip" }), "cache-control": "max-age=3600" }).end(body);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const base = `http://127.0.0.1:${server.address().port}/`;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox"] });

// How the search of each kind of site is used.
const kinds = {
  kb: {
    show: (page) => page.keyboard.press("/"),
    async ask(page, query) {
      await page.locator("#kb-search-input").fill("");
      await page.waitForFunction(() => !document.querySelector(".finder-status").textContent);
      await page.locator("#kb-search-input").fill(query);
      await page.waitForFunction(() => document.querySelector(".finder-status").textContent, undefined, { timeout: 60000 });
    },
    excerpts: (name) => /\/q\/text/.test(name), // come after the list
    rank: async (page, query) => {
      await kinds.kb.ask(page, query);
      return page.locator("#kb-search-results a").evaluateAll((links) => links.map((a) => new URL(a.href).pathname));
    },
  },
  pagefind: {
    show: (page) => page.locator(".pagefind-ui__search-input").focus(),
    async ask(page, query) {
      await page.locator(".pagefind-ui__search-input").fill(query);
      await page.waitForFunction((q) => document.querySelector(".pagefind-ui__message")?.textContent.includes(q), query, { timeout: 60000 });
    },
    excerpts: () => false, // come with the list
    rank: (page, query) =>
      page.evaluate(async (q) => {
        const pagefind = await import("/pagefind/pagefind.js");
        const { results } = await pagefind.search(q);
        return Promise.all(results.slice(0, 10).map(async (r) => (await r.data()).url));
      }, query),
  },
};
const search = kinds[kind];

const kilobytes = () => sent.filter(([name]) => !search.excerpts(name)).reduce((sum, [, size]) => sum + size, 0) / 1000;
const settle = async (page) => {
  await page.waitForLoadState("networkidle");
  await page.waitForTimeout(300);
};
const median = (list) => list.sort((a, b) => a - b)[Math.floor(list.length / 2)];

const wire = { home: [], first: [], next: [] };
for (const [first, next] of pairs) {
  const page = await (await browser.newContext()).newPage();
  sent = [];
  await page.goto(base);
  await settle(page);
  wire.home.push(kilobytes());
  await search.show(page);
  await search.ask(page, first);
  await settle(page);
  wire.first.push(kilobytes());
  sent = [];
  await search.ask(page, next);
  await settle(page);
  wire.next.push(kilobytes());
  await page.context().close();
}

const found = [];
const page = await (await browser.newContext()).newPage();
await page.goto(base);
await search.show(page);
for (const query of ranked) found.push((await search.rank(page, query)).slice(0, 10));

console.log(JSON.stringify({ home: median(wire.home), first: median(wire.first), next: median(wire.next), found }));
await browser.close();
server.close();
