// What the tests of a site share: a server, a browser, and faults, which are told
// on the standard output, one a line.
import { createServer } from "node:http";
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

export const site = process.argv[2];
export const wide = { width: 1280, height: 800 };
export const narrow = { width: 360, height: 740 };

const types = { html: "text/html; charset=utf-8", js: "text/javascript", css: "text/css", svg: "image/svg+xml", png: "image/png", json: "application/json", xml: "application/xml" };

// serve answers as a host of static files does.
async function serve() {
  const server = createServer((request, response) => {
    let name = decodeURIComponent(new URL(request.url, "http://x").pathname).slice(1);
    if (name === "" || name.endsWith("/")) name += "index.html";
    const file = join(site, name);
    const found = file.startsWith(site) && existsSync(file) && statSync(file).isFile();
    const type = found ? types[name.split(".").pop()] || "text/plain; charset=utf-8" : types.html;
    const body = gzipSync(readFileSync(found ? file : join(site, "404.html")));
    response.writeHead(found ? 200 : 404, { "content-type": type, "content-encoding": "gzip", "cache-control": "max-age=3600" }).end(body);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return server;
}

const server = await serve();
export const http = `http://127.0.0.1:${server.address().port}/`;
export const disk = pathToFileURL(site).href + "/";
export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox", "--disable-dev-shm-usage", "--remote-debugging-port=" + (process.env.DEBUGGING_PORT || 0)] });

let faults = 0;

// check tells a fault unless ok.
export function check(ok, what) {
  if (ok) return;
  faults++;
  console.log(what.replaceAll("\n", " "));
}

// open opens a page in a window of its own; what the console says is a fault.
export async function open(address, options = {}, before = () => {}) {
  const context = await browser.newContext({ viewport: wide, ...options });
  const page = await context.newPage();
  page.on("console", (m) => check(!["error", "warning"].includes(m.type()) || m.text().includes("404 (Not Found)"), `${address}: console: ${m.text()}`));
  page.on("pageerror", (e) => check(false, `${address}: ${e}`));
  await before(page, context);
  await page.goto(address);
  return page;
}

export const close = (page) => page.context().close();
export const results = (page) => page.locator("#kb-search-results a");
export const status = (page) => page.locator(".finder-status").textContent();

// answered waits until the search has answered what its field says.
export const answered = (page) => page.waitForSelector("#kb-search-results[aria-busy=false]", { state: "attached" });

// excerpts waits until what is shown of the first results is there.
export const excerpts = (page) => page.waitForFunction(() => [...document.querySelectorAll("#kb-search-results a > span")].slice(0, 3).every((s) => s.textContent || s.hidden));

// ask replaces what the field of the search says.
export async function ask(page, query) {
  await page.locator("#kb-search-input").fill(query);
  await answered(page);
}

// each runs work on every item, some at a time.
export async function each(items, work, most = 2) {
  const left = items.entries();
  await Promise.all(Array.from({ length: most }, async () => {
    for (const [i, item] of left) await work(item, i);
  }));
}

// run runs a test and ends.
export async function run(test) {
  try {
    await test();
  } catch (e) {
    check(false, "the test broke: " + e.stack);
  }
  await browser.close();
  server.close();
  process.exitCode = faults ? 1 : 0;
}
