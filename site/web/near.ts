// The graph of a note's neighbours beside it: first of those that the page links
// to and that link to it, which it lists, so that nothing is loaded; more from
// the graph of all notes, when the reader asks.
import { View, type Graph } from "./graph";
import { element, here } from "./page";
import { at, load } from "./site";

const most = 120; // notes in the picture

// near draws the graph when the reader comes to it.
export function near(): void {
  const links = neighbours();
  if (links.length === 0) return;
  const side = document.querySelector(".side") || beside();
  const box = element("div", { className: "around-graph" });
  const more = element("button", { type: "button", className: "around-more", textContent: "Show more around it" });
  const title = element("h2", { id: "around", textContent: "Around this note" });
  const section = element("section", { className: "around" }, title, box, more);
  section.setAttribute("aria-labelledby", "around");
  side.append(section);
  more.hidden = !at().graph;
  const seen = new IntersectionObserver((entries) => {
    if (!entries.some((e) => e.isIntersecting)) return;
    seen.disconnect();
    const view = show(box, star(links));
    more.addEventListener("click", async () => {
      more.disabled = true;
      const g = await load<Graph>("graph", at().graph!);
      view.remove();
      show(box, around(g));
      more.remove();
      box.querySelector("canvas")?.focus();
    });
  });
  seen.observe(section);
}

// beside is a place beside the text of a page that has none.
function beside(): HTMLElement {
  const side = element("aside", { className: "side" });
  side.setAttribute("aria-label", "On this page");
  document.querySelector("main")!.after(side);
  return side;
}

function show(box: HTMLElement, g: Graph): View {
  return new View(box, g, { label: "Graph of the notes around this one.", here: 0, still: true });
}

interface Neighbour {
  title: string;
  page: string;
}

// neighbours are the notes that the page lists.
function neighbours(): Neighbour[] {
  const root = new URL(document.documentElement.dataset.root || "./", location.href).pathname;
  const found = new Map<string, string>();
  for (const a of document.querySelectorAll<HTMLAnchorElement>(".near a, .backlinks li > a")) {
    const page = decodeURIComponent(a.pathname.slice(root.length));
    if (page !== here() && found.size < most) found.set(page, a.textContent || page);
  }
  return [...found].map(([page, title]) => ({ title, page }));
}

function pageTitle(): string {
  return document.querySelector("h1")?.firstChild?.textContent || document.title;
}

function star(links: Neighbour[]): Graph {
  const n = links.length;
  const g: Graph = {
    t: [pageTitle(), ...links.map((l) => l.title)],
    p: [here(), ...links.map((l) => l.page)],
    g: [0, ...links.map((l) => folder(l.page))],
    x: [],
    y: [],
    f: links.map(() => 0),
    o: links.map((_, i) => i + 1),
  };
  g.g[0] = folder(here());
  return settle(g, n + 1);
}

// folder numbers the first folder of a page, for its colour.
const folders = new Map<string, number>();

function folder(page: string): number {
  const name = page.includes("/") ? page.slice(0, page.indexOf("/")) : "";
  if (!folders.has(name)) folders.set(name, folders.size);
  return folders.get(name)!;
}

// around is the part of the whole graph within two links of this note.
function around(g: Graph): Graph {
  const me = g.p.indexOf(here());
  const near = new Map<number, number[]>();
  const join = (a: number, b: number) => (near.has(a) ? near.get(a)!.push(b) : near.set(a, [b]));
  g.f.forEach((a, e) => (join(a, g.o[e]), join(g.o[e], a)));
  const number = new Map<number, number>([[me, 0]]);
  for (let depth = 1; depth <= 2; depth++) {
    for (const i of [...number.keys()]) {
      for (const j of near.get(i) || []) if (number.size < most && !number.has(j)) number.set(j, number.size);
    }
  }
  const all = [...number.keys()];
  const part: Graph = { t: all.map((i) => g.t[i]), p: all.map((i) => g.p[i]), g: all.map((i) => g.g[i]), x: [], y: [], f: [], o: [] };
  g.f.forEach((a, e) => {
    const [from, to] = [number.get(a), number.get(g.o[e])];
    if (from !== undefined && to !== undefined) part.f.push(from), part.o.push(to);
  });
  return settle(part, all.length);
}

// settle places the notes: linked ones near, others apart, this one in the middle.
// It moves nothing before the reader's eyes.
function settle(g: Graph, n: number): Graph {
  const gap = 60;
  g.x = g.t.map((_, i) => (i ? Math.cos(i * 2.4) * gap * Math.sqrt(i) : 0));
  g.y = g.t.map((_, i) => (i ? Math.sin(i * 2.4) * gap * Math.sqrt(i) : 0));
  for (let round = 0, heat = 1; round < 150; round++, heat *= 0.985) {
    const [mx, my] = [new Float64Array(n), new Float64Array(n)];
    const pull = (a: number, b: number, by: number) => {
      mx[a] += (g.x[b] - g.x[a]) * by;
      my[a] += (g.y[b] - g.y[a]) * by;
    };
    g.f.forEach((a, e) => {
      const b = g.o[e];
      const d = Math.hypot(g.x[a] - g.x[b], g.y[a] - g.y[b]) || 1;
      const by = (0.08 * (d - gap)) / d;
      pull(a, b, by);
      pull(b, a, by);
    });
    for (let i = 0; i < n; i++) for (let j = i + 1; j < n; j++) {
      const d2 = Math.max(25, (g.x[i] - g.x[j]) ** 2 + (g.y[i] - g.y[j]) ** 2);
      const by = (-0.25 * gap * gap) / (d2 * Math.sqrt(n));
      pull(i, j, by);
      pull(j, i, by);
    }
    for (let i = 1; i < n; i++) {
      g.x[i] += mx[i] * heat;
      g.y[i] += my[i] * heat;
    }
  }
  return g;
}
