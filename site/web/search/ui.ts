// The search dialog and page.
import { at, load, root } from "../site";
import type { Row } from "./data";
import type { Excerpt } from "./excerpt";
import { type Answer, type Result, Searcher } from "./searcher";
import { classOf, isDense } from "./words";

const page = 10; // results at a time
const pause = 80; // ms after the last key
const recentKey = "kb-recent";

let opening: Promise<Searcher> | undefined;

function searcher(): Promise<Searcher> {
  if (!opening) {
    opening = Searcher.open(load, at().search!);
    opening.catch(() => (opening = undefined)); // it may be tried again
  }
  return opening;
}

function element<K extends keyof HTMLElementTagNameMap>(name: K, props: Partial<HTMLElementTagNameMap[K]> = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const e = Object.assign(document.createElement(name), props);
  e.append(...children);
  return e;
}

// Finder is the field, the list of results and what is said of them.
class Finder {
  readonly input = element("input", { id: "kb-search-input", type: "search", autocomplete: "off", spellcheck: false, placeholder: "Search the notes" });
  readonly list = element("ul", { id: "kb-search-results" });
  readonly status = element("p", { className: "finder-status" });
  readonly recent = element("p", { className: "finder-recent", hidden: true });
  readonly more = element("button", { type: "button", className: "finder-more", textContent: "More results", hidden: true });
  private turn = 0;
  private timer = 0;
  private selected = -1;
  private asked = ""; // what the list answers
  private excerpts = new Map<Element, () => Promise<void>>();
  private seen = new IntersectionObserver((entries) => {
    for (const e of entries) if (e.isIntersecting) void this.excerpts.get(e.target)?.();
  });

  constructor(private shown: (query: string) => void) {
    const { input, list, status } = this;
    for (const [name, value] of Object.entries({
      role: "combobox", "aria-label": "Search the notes", "aria-controls": list.id, "aria-expanded": "false", "aria-autocomplete": "list",
    })) {
      input.setAttribute(name, value);
    }
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Results");
    status.setAttribute("role", "status");
    input.addEventListener("input", () => this.later());
    input.addEventListener("keydown", (e) => this.key(e));
    list.addEventListener("click", () => remember(input.value));
    this.offer();
  }

  // offer shows the last searches while nothing is asked.
  private offer(): void {
    const last = recent();
    this.recent.hidden = !last.length || !!this.input.value.trim();
    this.recent.replaceChildren("Searched before: ");
    for (const query of last) {
      const again = element("button", { type: "button", textContent: query });
      again.addEventListener("click", () => {
        this.input.value = query;
        this.input.focus();
        void this.search();
      });
      this.recent.append(again, " ");
    }
  }

  // busy says whether the list is of something else than the field.
  private busy(busy: boolean): void {
    this.list.setAttribute("aria-busy", String(busy));
  }

  private later(): void {
    this.busy(true);
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.search(), pause);
  }

  async search(): Promise<void> {
    clearTimeout(this.timer);
    const query = this.input.value.trim();
    const turn = ++this.turn;
    this.busy(true);
    this.shown(query);
    this.offer();
    if (!query) return this.end("", "");
    try {
      const answer = await (await searcher()).search(query);
      const first = await answer.results(0, page);
      if (turn !== this.turn) return; // something else is asked for by now
      this.clear(query, said(answer));
      this.append(answer, first, turn);
      this.busy(false);
    } catch (e) {
      if (turn === this.turn) this.end(query, "Search failed: " + (e as Error).message);
    }
  }

  private end(query: string, status: string): void {
    this.clear(query, status);
    this.busy(false);
  }

  private clear(query: string, status: string): void {
    this.asked = query;
    this.seen.disconnect();
    this.excerpts.clear();
    this.list.replaceChildren();
    this.more.hidden = true;
    this.status.textContent = status;
    this.input.setAttribute("aria-expanded", "false");
    this.select(-1);
  }

  private append(answer: Answer, results: Result[], turn: number): void {
    const shown = this.list.children.length + results.length;
    for (const r of results) {
      const item = this.item(r);
      this.list.append(item);
      this.seen.observe(item);
    }
    this.input.setAttribute("aria-expanded", String(shown > 0));
    this.more.hidden = shown >= answer.total;
    this.more.onclick = async () => {
      this.more.hidden = true;
      const next = await answer.results(shown, shown + page);
      if (turn === this.turn) this.append(answer, next, turn);
    };
  }

  private item({ row, excerpt }: Result): HTMLLIElement {
    const link = element("a", { href: root() + encodeURI(row.p), tabIndex: -1, id: "kb-result-" + this.list.children.length });
    link.setAttribute("role", "option");
    link.setAttribute("aria-selected", "false");
    link.append(element("b", { textContent: row.t }));
    const place = element("small", { textContent: (row.f || "").replaceAll("/", " / ") });
    link.append(place);
    const passage = element("span"); // keeps its place meanwhile
    link.append(passage);
    const item = element("li", {}, link);
    item.setAttribute("role", "none");
    // The text of a note is loaded when its result comes into view.
    this.excerpts.set(item, async () => {
      this.seen.unobserve(item);
      this.excerpts.delete(item);
      const x = await excerpt();
      if (x.date) place.append((row.f ? " · " : "") + x.date);
      fill(link, passage, row, x);
    });
    return item;
  }

  private select(i: number): void {
    const items = this.list.querySelectorAll("a");
    items[this.selected]?.setAttribute("aria-selected", "false");
    this.selected = i;
    const item = items[i];
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    if (item) this.input.setAttribute("aria-activedescendant", item.id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  private key(e: KeyboardEvent): void {
    if (e.isComposing) return;
    const n = this.list.children.length;
    if (e.key === "ArrowDown" && n) this.select((this.selected + 1) % n);
    else if (e.key === "ArrowUp" && n) this.select(this.selected < 0 ? n - 1 : this.selected - 1);
    else if (e.key === "Enter") void this.go();
    else return;
    e.preventDefault();
  }

  // go opens the selected result, or the first, of what the field says.
  private async go(): Promise<void> {
    if (this.asked !== this.input.value.trim()) await this.search();
    this.list.querySelectorAll("a")[Math.max(0, this.selected)]?.click();
  }
}

// fill adds to a result the passage that answers, and makes it lead there.
function fill(link: HTMLAnchorElement, passage: HTMLElement, row: Row, x: Excerpt): void {
  const words = [...new Set(x.text.filter((p) => p.mark).map((p) => p.s))].slice(0, 8);
  const mark = words.length ? "?mark=" + words.map(encodeURIComponent).join("+") : "";
  link.href = root() + encodeURI(row.p) + mark + (x.anchor ? "#" + encodeURIComponent(x.anchor) : "");
  if (x.heading && x.heading !== row.t) passage.append(element("i", { textContent: x.text.some((p) => p.s) ? x.heading + " · " : x.heading }));
  for (const part of x.text) passage.append(part.mark ? element("mark", { textContent: part.s }) : part.s);
  passage.hidden = !passage.textContent;
}

// said tells in words how a search went.
function said(a: Answer): string {
  const parts = [a.total === 0 ? "Nothing found" : a.total === 1 ? "1 note" : a.total + " notes"];
  for (const [from, to] of a.corrected) parts.push(`no note has “${from}”: searched for “${to}”`);
  if (a.missing.length) parts.push("found nowhere: " + a.missing.join(", "));
  if (a.remark) parts.push(a.remark);
  return parts.join(" · ");
}

function recent(): string[] {
  try {
    return JSON.parse(localStorage.getItem(recentKey) || "[]");
  } catch {
    return [];
  }
}

function remember(query: string): void {
  query = query.trim();
  if (!query) return;
  try {
    localStorage.setItem(recentKey, JSON.stringify([query, ...recent().filter((q) => q !== query)].slice(0, 8)));
  } catch {
    // then it is forgotten
  }
}

export function search(): void {
  if (!at().search) return;
  const page = document.getElementById("kb-search");
  if (page) searchPage(page);
  else searchDialog();
}

// searchPage is search.html: its address holds the query.
function searchPage(place: HTMLElement): void {
  const finder = new Finder((query) => {
    try {
      history.replaceState(null, "", query ? "?q=" + encodeURIComponent(query) : location.pathname);
    } catch {
      // a page from a disk keeps its address
    }
  });
  finder.input.value = new URLSearchParams(location.search).get("q") || "";
  place.append(finder.input, finder.recent, finder.status, finder.list, finder.more);
  for (const open of document.querySelectorAll<HTMLElement>("form.search")) open.hidden = true;
  finder.input.focus();
  keys(() => finder.input.select());
  void finder.search();
}

function searchDialog(): void {
  let dialog: HTMLDialogElement | undefined;
  let finder: Finder;
  const show = (query = "") => {
    if (!dialog) {
      finder = new Finder(() => {});
      const close = element("button", { type: "button", className: "finder-close", textContent: "Close" });
      close.addEventListener("click", () => dialog!.close());
      dialog = element("dialog", { className: "finder" }, element("header", {}, finder.input, close), finder.recent, finder.status, finder.list, finder.more);
      dialog.setAttribute("aria-label", "Search");
      dialog.addEventListener("keydown", (e) => {
        if (e.key !== "Escape" || e.isComposing) return;
        e.preventDefault(); // which would only empty the field
        dialog!.close();
      });
      dialog.addEventListener("click", (e) => {
        if (e.target === dialog) dialog!.close();
      });
      document.body.append(dialog);
    }
    if (!dialog.open) dialog.showModal();
    if (query) finder.input.value = query;
    else finder.input.select();
    void searcher().catch(() => {}); // a search will say so
    if (finder.input.value) void finder.search();
  };
  keys(() => show());
  const open = document.getElementById("kb-search-open") as HTMLInputElement | null;
  const take = () => {
    show(open!.value);
    open!.value = "";
  };
  open?.addEventListener("click", take);
  open?.addEventListener("input", (e) => (e as InputEvent).isComposing || take());
  open?.addEventListener("compositionend", take);
}

// keys opens the search at / and Ctrl+K.
function keys(open: () => void): void {
  document.addEventListener("keydown", (e) => {
    const typing = (e.target as HTMLElement).closest?.("input, textarea, select, [contenteditable]");
    const slash = e.key === "/" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey;
    if (!slash && !((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k")) return;
    e.preventDefault();
    open();
  });
}

// marks shows on a page the words that led to it.
export function marks(): void {
  const words = new URLSearchParams(location.search.replaceAll("+", "%1f")).get("mark")?.split("\x1f").filter((w) => w);
  const body = document.querySelector("main .body");
  if (!words?.length || !body) return;
  // A word begins where no other ends, but in scripts without spaces.
  const one = (w: string) => (isDense(classOf(Array.from(w)[0])) ? "" : "(?<![\\p{L}\\p{N}])") + w.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const pattern = new RegExp(words.map(one).join("|"), "giu");
  const nodes: Text[] = [];
  const walk = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) if (!walk.currentNode.parentElement!.closest("math, svg")) nodes.push(walk.currentNode as Text);
  for (const node of nodes) {
    const found = [...node.data.matchAll(pattern)];
    if (!found.length) continue;
    const parts: (Node | string)[] = [];
    let from = 0;
    for (const m of found) {
      parts.push(node.data.slice(from, m.index), element("mark", { textContent: m[0] }));
      from = m.index! + m[0].length;
    }
    parts.push(node.data.slice(from));
    node.replaceWith(...parts);
  }
}
