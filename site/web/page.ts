// What a page does beside being read: theme, navigation, outline, copying,
// previews.
import { at, load, type NavNode } from "./site";

const html = document.documentElement;

// icon is a button with a drawing.
function icon(name: string, label: string, drawing: string): HTMLButtonElement {
  const button = element("button", { type: "button", className: "icon " + name });
  button.setAttribute("aria-label", label);
  button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true">${drawing}</svg>`;
  return button;
}

// bar adds to the top of the page what works with scripts alone.
export function bar(): void {
  const top = document.querySelector("header.top");
  if (!top) return;
  const menu = icon("menu", "Contents", '<path d="M4 6h16M4 12h16M4 18h16"/>');
  menu.setAttribute("aria-expanded", "false");
  menu.setAttribute("aria-controls", "nav");
  top.prepend(menu);
  const link = top.querySelector<HTMLAnchorElement>("a.search");
  if (link && at().search) link.replaceWith(field(link.href));
  const theme = icon("theme", "Dark or light", '<circle cx="12" cy="12" r="8"/><path d="M12 4a8 8 0 0 1 0 16z" fill="currentColor"/>');
  top.append(theme);
  switches(theme);
}

// field is where a search is begun.
function field(page: string): HTMLFormElement {
  const input = element("input", { id: "kb-search-open", name: "q", type: "search", placeholder: "Search", autocomplete: "off" });
  const key = element("kbd", { textContent: "/" });
  key.setAttribute("aria-hidden", "true");
  const form = element("form", { className: "search", action: page }, element("label", { className: "hidden", htmlFor: input.id, textContent: "Search" }), input, key);
  form.setAttribute("role", "search");
  return form;
}

// switches has a button change from dark to light.
function switches(button: HTMLButtonElement): void {
  button.addEventListener("click", () => {
    const dark = html.dataset.theme ? html.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    html.dataset.theme = dark ? "light" : "dark";
    try {
      localStorage.setItem("kb-theme", html.dataset.theme);
    } catch {
      // then it lasts as long as the page
    }
  });
}

export function element<K extends keyof HTMLElementTagNameMap>(name: K, props: Partial<HTMLElementTagNameMap[K]> = {}, ...children: (Node | string)[]): HTMLElementTagNameMap[K] {
  const e = Object.assign(document.createElement(name), props);
  e.append(...children);
  return e;
}

// here is the name of this page in the site.
export function here(): string {
  const root = new URL(html.dataset.root || "./", location.href);
  let name = location.pathname.slice(root.pathname.length);
  if (name === "" || name.endsWith("/")) name += "index.html";
  return decodeURIComponent(name);
}

export async function navigation(): Promise<void> {
  const nav = document.getElementById("nav");
  const menu = document.querySelector<HTMLButtonElement>("button.menu");
  if (!nav) return;
  if (menu) {
    const narrow = matchMedia("(max-width: 52rem)");
    const show = () => (menu.hidden = !narrow.matches);
    show();
    narrow.addEventListener("change", show);
    menu.addEventListener("click", () => menu.setAttribute("aria-expanded", String(nav.classList.toggle("open"))));
    document.addEventListener("keydown", (e) => {
      if (e.key !== "Escape" || !nav.classList.contains("open")) return;
      menu.click();
      menu.focus();
    });
    document.addEventListener("focusin", (e) => {
      if (nav.classList.contains("open") && (e.target as Element).closest("main, .side, .bottom")) menu.click(); // it covers them
    });
  }
  const current = here();
  for (const a of nav.querySelectorAll("a")) if (new URL(a.href).pathname === location.pathname) a.setAttribute("aria-current", "page");
  const nodes = await load<NavNode[]>("nav", at().nav);
  const tree = list(nodes, current);
  tree.classList.add("tree");
  nav.append(tree);
  nav.querySelector(".tree [aria-current]")?.scrollIntoView({ block: "nearest" });
}

function list(nodes: NavNode[], current: string): HTMLUListElement {
  return element("ul", {}, ...nodes.map((n) => entry(n, current)));
}

// entry is a note, or a folder that opens and closes.
function entry(n: NavNode, current: string): HTMLLIElement {
  const link = element("a", { textContent: n.t });
  if (n.p) {
    link.href = (html.dataset.root || "") + encodeURI(n.p);
    if (n.p === current) link.setAttribute("aria-current", "page");
  }
  if (!n.i && !n.f) return element("li", {}, link);
  const toggle = element("button", { type: "button", className: "toggle" });
  const item = element("li", { className: "folder" }, link, toggle);
  let inside: HTMLUListElement | undefined;
  const show = (open: boolean) => {
    if (open && !inside) void fill().catch(() => show(false));
    if (inside) inside.hidden = !open;
    toggle.setAttribute("aria-expanded", String(open));
    toggle.setAttribute("aria-label", "Notes in " + n.t);
  };
  const fill = async () => {
    const nodes = n.i || (await load<NavNode[]>("nav", n.f!));
    if (inside) return;
    item.append((inside = list(nodes, current)));
    inside.hidden = toggle.getAttribute("aria-expanded") !== "true";
    inside.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest" });
  };
  toggle.addEventListener("click", () => show(toggle.getAttribute("aria-expanded") !== "true"));
  show(holds(n, current));
  return item;
}

function holds(n: NavNode, page: string): boolean {
  return n.p === page || !!n.i?.some((x) => holds(x, page)) || (!!n.f && page.startsWith(n.p!.slice(0, n.p!.lastIndexOf("/") + 1)));
}

// scrollers lets the keys reach what is wider than its place, and skip what is not.
export function scrollers(): void {
  const sized = new ResizeObserver((entries) => {
    for (const { target: e } of entries) {
      if (e.scrollWidth > e.clientWidth) e.setAttribute("tabindex", "0");
      else e.removeAttribute("tabindex");
    }
  });
  for (const e of document.querySelectorAll("main :is(pre, .table, .math, figure.diagram, .body > table)")) sized.observe(e);
}

// outline marks the heading that is being read.
export function outline(): void {
  const links = new Map<string, HTMLAnchorElement>();
  for (const a of document.querySelectorAll<HTMLAnchorElement>(".outline a")) links.set(decodeURIComponent(a.hash.slice(1)), a);
  const headings = [...links.keys()].map((id) => document.getElementById(id)).filter((h): h is HTMLElement => !!h);
  if (!headings.length) return;
  const mark = () => {
    let now: HTMLElement | undefined; // none while the page is at what stands before the first
    for (const h of headings) if (h.getBoundingClientRect().top < 120) now = h;
    for (const [id, a] of links) {
      if (id === now?.id) a.setAttribute("aria-current", "true");
      else a.removeAttribute("aria-current");
    }
  };
  let asked = false;
  addEventListener(
    "scroll",
    () => {
      if (asked) return;
      asked = true;
      requestAnimationFrame(() => {
        asked = false;
        mark();
      });
    },
    { passive: true },
  );
  mark();
}

// copying gives the note's Markdown, and its citation at the commit of the site.
export function copying(): void {
  if (!navigator.clipboard) return;
  const { commit } = at();
  const source = document.querySelector<HTMLAnchorElement>("a[data-citation]");
  if (!source) return;
  const button = (label: string, text: () => Promise<string> | string) => {
    const b = element("button", { type: "button", className: "copy", textContent: label });
    source.parentElement!.append(b);
    b.addEventListener("click", async () => {
      await navigator.clipboard.writeText(await text());
      b.textContent = "Copied";
      setTimeout(() => (b.textContent = label), 1500);
    });
  };
  if (location.protocol !== "file:") button("Copy as Markdown", async () => (await fetch(source.href)).text());
  if (commit) button("Copy citation", () => source.dataset.citation!.replace("@/", "@" + commit + "/"));
}

// asOf says at the foot of the page which commit it is of: pages do not, so that
// they stay the same from commit to commit.
export function asOf(): void {
  const { commit, date } = at();
  const place = document.querySelector(".bottom > p:last-child");
  if (place && commit) place.append(" · as of ", element("time", { dateTime: date, textContent: date.slice(0, 10) }), ", ", element("code", { textContent: commit.slice(0, 8), title: commit }));
}

// previews show the beginning of a note beside a link that is pointed at or has
// the focus.
export function previews(): void {
  if (location.protocol === "file:" || !matchMedia("(hover: hover)").matches) return;
  let box: HTMLElement | undefined;
  let timer = 0;
  const hide = () => {
    clearTimeout(timer);
    box?.remove();
    box = undefined;
  };
  const show = async (a: HTMLAnchorElement) => {
    const page = new DOMParser().parseFromString(await (await fetch(a.href)).text(), "text/html");
    const body = page.querySelector("main .body");
    if (!body) return;
    hide();
    const id = decodeURIComponent(new URL(a.href).hash.slice(1));
    const part = id ? page.getElementById(id) : null;
    box = element("div", { className: "preview" });
    box.setAttribute("aria-hidden", "true");
    const from = part && body.contains(part) ? part : body.firstElementChild;
    const title = page.querySelector("h1")?.textContent || "";
    if (from?.tagName !== "H1") box.append(element("h1", { textContent: title }));
    for (let e = from, n = 0; e && n < 4; e = e.nextElementSibling, n++) {
      const copy = e.cloneNode(true) as HTMLElement;
      for (const x of copy.querySelectorAll("[id],a")) {
        x.removeAttribute("id");
        x.removeAttribute("href");
      }
      copy.removeAttribute("id");
      box.append(copy);
    }
    const at = a.getBoundingClientRect();
    box.style.left = Math.max(8, Math.min(at.left, innerWidth - 370)) + scrollX + "px";
    const below = at.bottom + 270 < innerHeight;
    document.body.append(box);
    box.style.top = (below ? at.bottom + 8 : at.top - box.offsetHeight - 8) + scrollY + "px";
  };
  const of = (e: Event) => (e.target as Element).closest<HTMLAnchorElement>("main a[href]");
  const start = (e: Event) => {
    const a = of(e);
    if (!a || a.host !== location.host || a.pathname === location.pathname || !/(\.html|\/)$/.test(a.pathname)) return;
    clearTimeout(timer);
    timer = window.setTimeout(() => show(a).catch(hide), 350);
  };
  document.addEventListener("mouseover", start);
  document.addEventListener("focusin", start);
  document.addEventListener("mouseout", hide);
  document.addEventListener("focusout", hide);
  addEventListener("scroll", hide, { passive: true });
}

// live loads the page anew when the site that kb serves while it is written has
// changed.
export async function live(): Promise<void> {
  for (;;) {
    const r = await fetch("/-/changed");
    if (r.status === 200) {
      location.reload();
      return;
    }
    if (!r.ok) await new Promise((done) => setTimeout(done, 5000));
  }
}
