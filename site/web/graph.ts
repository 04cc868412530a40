// The graph of all notes, and of a note's neighbours, drawn on a canvas. Positions
// come with the data.
import { load, root } from "./site";

export interface Graph {
  t: string[];
  p: string[];
  g: number[];
  x: number[];
  y: number[];
  f: number[];
  o: number[];
}

const colours = ["#3b78d8", "#2a9d6f", "#c77d0a", "#9b59b6", "#c0392b", "#16a0a0", "#8a6d3b", "#6c7a89"];

export async function graph(): Promise<void> {
  const box = document.getElementById("kb-graph");
  if (!box) return;
  const g = await load<Graph>("graph", box.dataset.graph!.slice(root().length));
  if (g.t.length) new View(box, g, { label: "Graph of the notes. The most linked notes are listed below." });
}

interface Options {
  label: string; // what the graph is of
  here?: number; // the note that it is about
  still?: boolean; // it is neither moved nor scaled with the pointer: the page is
}

// A key moves the selection to the nearest node in its direction.
const ways: Record<string, [number, number]> = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

export class View {
  private canvas = document.createElement("canvas");
  private said = document.createElement("p");
  private scale = 1;
  private dx = 0;
  private dy = 0;
  private at = -1;
  private asked = false;
  private degree: number[];
  private near: number[][];
  private order: number[]; // the most linked first
  private widths: number[] = []; // of labels
  private sized = new ResizeObserver(() => this.fit());

  constructor(
    private box: HTMLElement,
    private g: Graph,
    private o: Options,
  ) {
    this.degree = g.t.map(() => 0);
    this.near = g.t.map(() => []);
    g.f.forEach((a, i) => {
      const b = g.o[i];
      this.degree[a]++;
      this.degree[b]++;
      this.near[a].push(b);
      this.near[b].push(a);
    });
    this.order = g.t.map((_, i) => i).sort((a, b) => this.degree[b] - this.degree[a] || a - b);
    const c = this.canvas;
    c.tabIndex = 0;
    c.setAttribute("role", "application");
    c.setAttribute("aria-label", o.label + " Arrow keys go from note to note, Enter opens one, plus and minus scale, 0 shows all.");
    this.said.className = "hidden";
    this.said.setAttribute("aria-live", "polite");
    box.append(c, this.said);
    this.sized.observe(box);
    if (!o.still) {
      c.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
      c.addEventListener("pointerdown", (e) => this.drag(e));
    } else c.addEventListener("click", () => this.open());
    c.addEventListener("pointermove", (e) => this.point(e));
    c.addEventListener("pointerleave", () => this.select(-1));
    c.addEventListener("keydown", (e) => this.key(e));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.ask());
    new MutationObserver(() => this.ask()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  }

  remove(): void {
    this.sized.disconnect();
    this.canvas.remove();
    this.said.remove();
  }

  // fit shows all of the graph.
  private fit(): void {
    const w = this.box.clientWidth;
    const h = this.box.clientHeight;
    const ratio = devicePixelRatio || 1;
    this.canvas.width = w * ratio;
    this.canvas.height = h * ratio;
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    for (let i = 0; i < this.g.x.length; i++) {
      left = Math.min(left, this.g.x[i]);
      right = Math.max(right, this.g.x[i]);
      top = Math.min(top, this.g.y[i]);
      bottom = Math.max(bottom, this.g.y[i]);
    }
    const [across, down] = this.o.still ? [90, 50] : [160, 100]; // room for labels
    this.scale = Math.min((w - across) / Math.max(1, right - left), (h - down) / Math.max(1, bottom - top), 4);
    this.dx = w / 2 - ((left + right) / 2) * this.scale;
    this.dy = h / 2 - ((top + bottom) / 2) * this.scale;
    this.ask();
  }

  private ask(): void {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      this.draw();
    });
  }

  private draw(): void {
    const c = this.canvas.getContext("2d")!;
    const style = getComputedStyle(document.documentElement);
    const ratio = devicePixelRatio || 1;
    const g = this.g;
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, this.box.clientWidth, this.box.clientHeight);
    c.strokeStyle = style.getPropertyValue("--line");
    c.lineWidth = 1;
    c.beginPath();
    for (let e = 0; e < g.f.length; e++) this.line(c, g.f[e], g.o[e]);
    c.stroke();
    if (this.at >= 0) {
      c.strokeStyle = style.getPropertyValue("--accent");
      c.beginPath();
      for (const n of this.near[this.at]) this.line(c, this.at, n);
      c.stroke();
    }
    for (let i = 0; i < g.t.length; i++) {
      const [x, y] = this.place(i);
      c.fillStyle = colours[g.g[i] % colours.length];
      c.beginPath();
      c.arc(x, y, this.radius(i), 0, 7);
      c.fill();
    }
    if (this.o.here !== undefined) {
      c.strokeStyle = style.getPropertyValue("--fg");
      c.lineWidth = 2;
      c.beginPath();
      c.arc(...this.place(this.o.here), this.radius(this.o.here) + 2, 0, 7);
      c.stroke();
    }
    this.labels(c, style.getPropertyValue("--fg"), style.getPropertyValue("--bg"));
  }

  private line(c: CanvasRenderingContext2D, a: number, b: number): void {
    c.moveTo(...this.place(a));
    c.lineTo(...this.place(b));
  }

  // labels writes titles where they cover no other: those of the node pointed at
  // and its neighbours first, then the most linked.
  private labels(c: CanvasRenderingContext2D, colour: string, ground: string): void {
    c.font = "12px system-ui, sans-serif";
    c.textAlign = "center";
    c.lineJoin = "round";
    c.lineWidth = 3;
    c.strokeStyle = ground;
    const first = this.at >= 0 ? [this.at, ...this.near[this.at]] : this.o.here === undefined ? [] : [this.o.here];
    const taken = new Boxes();
    const [w, h] = [this.box.clientWidth, this.box.clientHeight];
    let tried = 0;
    for (const i of [...first, ...(this.at >= 0 ? [] : this.order)]) {
      const [x, y] = this.place(i);
      if (x < 0 || y < 0 || x > w || y > h) continue;
      if (tried++ > 1500 || (this.degree[i] === 0 && this.scale < 1.2 && i !== this.at)) break; // the rest are single
      const text = clip(this.g.t[i], this.o.still ? 24 : 40);
      const half = (this.widths[i] ||= c.measureText(text).width) / 2;
      const middle = Math.max(half + 2, Math.min(w - half - 2, x)); // within the picture
      const base = Math.max(14, y - this.radius(i) - 4);
      if (!taken.add(middle - half - 3, base - 12, middle + half + 3, base + 4)) continue;
      c.strokeText(text, middle, base);
      c.fillStyle = colour;
      c.fillText(text, middle, base);
    }
  }

  private place(i: number): [number, number] {
    return [this.g.x[i] * this.scale + this.dx, this.g.y[i] * this.scale + this.dy];
  }

  private radius(i: number): number {
    return Math.max(1.5, (2.5 + Math.sqrt(this.degree[i])) * Math.min(1, this.scale + 0.25));
  }

  private zoom(by: number, x: number, y: number): void {
    const s = Math.max(0.02, Math.min(6, this.scale * by));
    this.dx = x - ((x - this.dx) / this.scale) * s;
    this.dy = y - ((y - this.dy) / this.scale) * s;
    this.scale = s;
    this.ask();
  }

  private wheel(e: WheelEvent): void {
    e.preventDefault();
    this.zoom(Math.exp(-e.deltaY / 400), e.offsetX, e.offsetY);
  }

  private key(e: KeyboardEvent): void {
    const middle: [number, number] = [this.box.clientWidth / 2, this.box.clientHeight / 2];
    if (ways[e.key]) this.step(...ways[e.key]);
    else if (e.key === "Enter") this.open();
    else if (e.key === "+" || e.key === "=") this.zoom(1.25, ...middle);
    else if (e.key === "-") this.zoom(0.8, ...middle);
    else if (e.key === "0") this.fit();
    else return;
    e.preventDefault();
  }

  // step selects the nearest node that is more that way than aside, and brings it
  // into sight.
  private step(wx: number, wy: number): void {
    const from = this.at >= 0 ? this.at : (this.o.here ?? this.order[0]);
    let [best, least] = [this.at < 0 && this.o.here === undefined ? from : -1, Infinity];
    for (let i = 0; i < this.g.t.length && best !== from; i++) {
      const [x, y] = [this.g.x[i] - this.g.x[from], this.g.y[i] - this.g.y[from]];
      const along = x * wx + y * wy;
      const aside = Math.abs(x * wy) + Math.abs(y * wx);
      if (i === from || along <= 0 || aside > along * 1.5 || along + 2 * aside >= least) continue;
      [best, least] = [i, along + 2 * aside];
    }
    if (best < 0) return;
    const [x, y] = this.place(best);
    const [w, h] = [this.box.clientWidth, this.box.clientHeight];
    if (x < 20 || x > w - 20) this.dx += w / 2 - x;
    if (y < 20 || y > h - 20) this.dy += h / 2 - y;
    this.select(best);
    this.said.textContent = this.g.t[best];
  }

  private select(i: number): void {
    if (i === this.at) return;
    this.at = i;
    this.canvas.style.cursor = i >= 0 ? "pointer" : this.o.still ? "" : "grab";
    this.ask();
  }

  private open(): void {
    if (this.at >= 0 && this.at !== this.o.here) location.href = root() + encodeURI(this.g.p[this.at]);
  }

  private drag(e: PointerEvent): void {
    const [x, y, dx, dy] = [e.clientX, e.clientY, this.dx, this.dy];
    let moved = false;
    const move = (m: PointerEvent) => {
      moved ||= Math.hypot(m.clientX - x, m.clientY - y) > 4;
      this.dx = dx + m.clientX - x;
      this.dy = dy + m.clientY - y;
      this.ask();
    };
    const end = () => {
      removeEventListener("pointermove", move);
      removeEventListener("pointerup", end);
      if (!moved) this.open();
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
  }

  private point(e: PointerEvent): void {
    if (e.buttons) return;
    let best = -1;
    let least = 14;
    for (let i = 0; i < this.g.t.length; i++) {
      const [x, y] = this.place(i);
      const d = Math.hypot(x - e.offsetX, y - e.offsetY);
      if (d < least) [best, least] = [i, d];
    }
    this.select(best);
  }
}

// Boxes are rectangles that do not overlap, found by the squares that they touch.
class Boxes {
  private squares = new Map<string, [number, number, number, number][]>();

  // add takes a rectangle in if it overlaps none.
  add(left: number, top: number, right: number, bottom: number): boolean {
    const keys: string[] = [];
    for (let x = Math.floor(left / 64); x <= right / 64; x++) for (let y = Math.floor(top / 64); y <= bottom / 64; y++) keys.push(x + " " + y);
    for (const k of keys) for (const b of this.squares.get(k) || []) if (left < b[2] && right > b[0] && top < b[3] && bottom > b[1]) return false;
    for (const k of keys) {
      const had = this.squares.get(k);
      if (had) had.push([left, top, right, bottom]);
      else this.squares.set(k, [[left, top, right, bottom]]);
    }
    return true;
  }
}

function clip(s: string, n: number): string {
  const runes = [...s];
  return runes.length > n ? runes.slice(0, n - 1).join("") + "…" : s;
}
