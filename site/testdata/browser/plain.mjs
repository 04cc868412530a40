// Walks through a site without JavaScript.
import { check, close, each, http, narrow, open, run } from "./reader.mjs";

const notes = process.argv[3].split(" ");

// controls are what is to be clicked or filled in.
const controls = (page) => page.locator("button:visible, input:visible, select:visible, kbd[aria-hidden]:visible, canvas:visible, [role=application]:visible")
  .evaluateAll((all) => all.map((e) => e.outerHTML.slice(0, 100)).filter((s) => !/type="checkbox"/.test(s)));

async function walk() {
  const reached = new Set(["index.html"]);
  for (let front = ["index.html"]; front.length; ) {
    const next = [];
    await each(front, async (name) => {
      const page = await open(http + name, { javaScriptEnabled: false });
      for (const c of await controls(page)) check(false, `${name}: it offers ${c}`);
      const text = await page.locator("main").innerText();
      check(text.trim().length > 10, `${name}: there is nothing to read`);
      const hidden = await page.locator("main .body").evaluateAll((b) => b.some((e) => !e.checkVisibility()));
      check(!hidden, `${name}: the note is not shown`);
      check(!/⁣|undefined|\[object/.test(text), `${name}: it says ${text.slice(0, 80)}`);
      for (const href of await page.locator("a[href]").evaluateAll((all) => all.map((a) => a.href))) {
        const u = new URL(href);
        const at = decodeURIComponent(u.pathname.slice(1)) || "index.html";
        if (u.origin + "/" !== http || !at.endsWith(".html") || reached.has(at)) continue;
        reached.add(at);
        next.push(at);
      }
      await close(page);
    });
    front = next;
  }
  for (const note of notes) check(reached.has(note), `no link leads to ${note}`);
  for (const list of ["all.html", "tags.html", "recent.html"]) check(reached.has(list), `no link leads to ${list}`);
}

// find follows the link to the search, which leads to the lists.
async function find() {
  const page = await open(http + notes[0], { javaScriptEnabled: false });
  await page.locator("header a.search").click();
  await page.waitForURL(/search\.html/);
  check((await page.locator("main").innerText()).includes("needs JavaScript"), "the page of the search does not say what it needs");
  await page.locator("main a[href='all.html']").click();
  await page.waitForURL(/all\.html/);
  await close(page);
}

async function reads() {
  const page = await open(http + "zoo/everything.html", { javaScriptEnabled: false, viewport: narrow });
  check(await page.locator("#nav").isVisible(), "there are no contents on a narrow screen");
  check(await page.locator("pre.mermaid").first().isVisible(), "the source of a diagram is not shown");
  check(await page.locator("math").first().isVisible(), "a formula is not shown");
  const fold = page.locator("details.callout").first();
  check(!(await fold.getAttribute("open")), "a folded callout is open");
  await fold.locator("summary").click();
  check((await fold.getAttribute("open")) !== null, "a folded callout does not open");
  const dark = await open(http + "zoo/everything.html", { javaScriptEnabled: false, colorScheme: "dark" });
  check(await dark.evaluate(() => getComputedStyle(document.body).backgroundColor) !== "rgb(255, 255, 255)", "dark is not followed");
  await close(dark);
  await close(page);
}

await run(async () => {
  await walk();
  await find();
  await reads();
});
