// The search dialog and page.
import { at, load, root } from "../site";
import type { Excerpt } from "./excerpt";
import { type Answer, Searcher } from "./searcher";

const most = 20;
const pause = 80; // ms after the last key
const recentKey = "kb-recent";

let opening: Promise<Searcher> | undefined;

function searcher(): Promise<Searcher> {
  opening ||= Searcher.open(load, at().search!);
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
  private turn = 0;
  private timer = 0;
  private selected = -1;

  constructor(private shown: (query: string) => void) {
    const { input, list, status } = this;
    input.setAttribute("role", "combobox");
    input.setAttribute("aria-label", "Search the notes");
    input.setAttribute("aria-controls", list.id);
    input.setAttribute("aria-expanded", "false");
    input.setAttribute("aria-autocomplete", "list");
    list.setAttribute("role", "listbox");
    list.setAttribute("aria-label", "Results");
    status.setAttribute("role", "status");
    input.addEventListener("input", () => this.later());
    input.addEventListener("keydown", (e) => this.key(e));
    list.addEventListener("click", () => remember(input.value));
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.search(), pause);
  }

  async search(): Promise<void> {
    const query = this.input.value.trim();
    const turn = ++this.turn;
    this.shown(query);
    if (!query) return this.show([], recent().length ? "" : "");
    let answer: Answer;
    try {
      answer = await (await searcher()).search(query, most);
    } catch (e) {
      if (turn === this.turn) this.show([], "Search failed: " + (e as Error).message);
      return;
    }
    if (turn !== this.turn) return; // something else is asked for by now
    const items = answer.results.map((r, i) => this.item(r.row.p, r.row.t, r.row.f, i));
    this.show(items, said(answer));
    await Promise.all(
      answer.results.map(async (r, i) => {
        const x = await r.excerpt();
        if (turn === this.turn) this.fill(items[i], r.row.p, x);
      }),
    );
  }

  private item(page: string, title: string, where: string, i: number): HTMLLIElement {
    const link = element("a", { href: root() + encodeURI(page), tabIndex: -1 }, element("b", { textContent: title }));
    const place = where.replace(/^ \/ |\/$/g, "").replaceAll("/", " / ");
    if (place) link.append(element("small", { textContent: place }));
    const item = element("li", { id: "kb-result-" + i }, link);
    item.setAttribute("role", "option");
    item.setAttribute("aria-selected", "false");
    return item;
  }

  private fill(item: HTMLLIElement, page: string, x: Excerpt): void {
    const link = item.firstElementChild as HTMLAnchorElement;
    const words = [...new Set(x.text.filter((p) => p.mark).map((p) => p.s))].slice(0, 8);
    link.href = root() + encodeURI(page) + (words.length ? "?mark=" + words.map(encodeURIComponent).join("+") : "") + (x.anchor ? "#" + encodeURIComponent(x.anchor) : "");
    const p = element("p");
    if (x.heading) p.append(element("small", { textContent: x.heading + " · " }));
    for (const part of x.text) p.append(part.mark ? element("mark", { textContent: part.s }) : part.s);
    link.append(p);
  }

  private show(items: HTMLLIElement[], status: string): void {
    this.list.replaceChildren(...items);
    this.status.textContent = status;
    this.input.setAttribute("aria-expanded", String(items.length > 0));
    this.select(-1);
  }

  private select(i: number): void {
    const items = this.list.children;
    items[this.selected]?.setAttribute("aria-selected", "false");
    this.selected = i;
    const item = items[i] as HTMLElement | undefined;
    item?.setAttribute("aria-selected", "true");
    item?.scrollIntoView({ block: "nearest" });
    if (item) this.input.setAttribute("aria-activedescendant", item.id);
    else this.input.removeAttribute("aria-activedescendant");
  }

  private key(e: KeyboardEvent): void {
    const n = this.list.children.length;
    if (e.key === "ArrowDown" && n) this.select((this.selected + 1) % n);
    else if (e.key === "ArrowUp" && n) this.select((this.selected + n) % (n + 1) === n ? -1 : this.selected - 1);
    else if (e.key === "Enter" && n) {
      remember(this.input.value);
      (this.list.children[Math.max(0, this.selected)].firstElementChild as HTMLAnchorElement).click();
    } else return;
    e.preventDefault();
  }
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

// suggest offers the last searches.
function suggestions(finder: Finder): HTMLDataListElement {
  const list = element("datalist", { id: "kb-recent" }, ...recent().map((value) => element("option", { value })));
  finder.input.setAttribute("list", list.id);
  return list;
}

export function search(): void {
  if (!at().search) return;
  const page = document.getElementById("kb-search");
  if (page) searchPage(page);
  else searchDialog();
}

// searchPage is search.html: its address holds the query.
function searchPage(place: HTMLElement): void {
  const finder = new Finder((query) => history.replaceState(null, "", query ? "?q=" + encodeURIComponent(query) : location.pathname));
  finder.input.value = new URLSearchParams(location.search).get("q") || "";
  place.append(finder.input, suggestions(finder), finder.status, finder.list);
  for (const open of document.querySelectorAll<HTMLElement>("form.search")) open.hidden = true;
  finder.input.focus();
  keys(() => finder.input.focus());
  void finder.search();
}

function searchDialog(): void {
  let dialog: HTMLDialogElement | undefined;
  let finder: Finder;
  const show = (query = "") => {
    if (!dialog) {
      finder = new Finder(() => {});
      dialog = element("dialog", { className: "finder" }, element("header", {}, finder.input, suggestions(finder)), finder.status, finder.list);
      dialog.setAttribute("aria-label", "Search");
      dialog.addEventListener("click", (e) => {
        if (e.target === dialog) dialog!.close();
      });
      document.body.append(dialog);
    }
    if (!dialog.open) dialog.showModal();
    if (query) finder.input.value = query;
    finder.input.select();
    void searcher().catch(() => {});
    if (finder.input.value) void finder.search();
  };
  keys(() => show());
  const open = document.getElementById("kb-search-open") as HTMLInputElement | null;
  open?.addEventListener("focus", () => {
    open.blur();
    show(open.value);
    open.value = "";
  });
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
  const pattern = new RegExp("(?<![\\p{L}\\p{N}])(?:" + words.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "giu");
  const nodes: Text[] = [];
  const walk = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) nodes.push(walk.currentNode as Text);
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
