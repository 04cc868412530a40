// The graph of all notes, and of a note's neighbours, drawn on a canvas. Positions
// come with the data.
import { load, root } from "./site";

interface Graph {
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
  if (g.t.length) new View(box, g);
}

class View {
  private canvas = document.createElement("canvas");
  private scale = 1;
  private dx = 0;
  private dy = 0;
  private at = -1;
  private asked = false;
  private degree: number[];
  private near: number[][];

  constructor(
    private box: HTMLElement,
    private g: Graph,
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
    const c = this.canvas;
    c.tabIndex = 0;
    c.setAttribute("role", "img");
    c.setAttribute("aria-label", "Graph of the notes. Arrow keys move it, plus and minus scale it. The most linked notes are listed below.");
    box.append(c);
    new ResizeObserver(() => this.fit()).observe(box);
    c.addEventListener("wheel", (e) => this.wheel(e), { passive: false });
    c.addEventListener("pointerdown", (e) => this.drag(e));
    c.addEventListener("pointermove", (e) => this.point(e));
    c.addEventListener("keydown", (e) => this.key(e));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.ask());
    new MutationObserver(() => this.ask()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
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
    this.scale = Math.min(w / (right - left + 160), h / (bottom - top + 100), 2);
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
    const { g, scale } = this;
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
    this.labels(c, style.getPropertyValue("--fg"), scale);
  }

  private line(c: CanvasRenderingContext2D, a: number, b: number): void {
    c.moveTo(...this.place(a));
    c.lineTo(...this.place(b));
  }

  private labels(c: CanvasRenderingContext2D, colour: string, scale: number): void {
    c.fillStyle = colour;
    c.font = "12px system-ui, sans-serif";
    c.textAlign = "center";
    const least = scale > 1.2 ? 0 : scale > 0.7 ? 3 : 12;
    for (let i = 0; i < this.g.t.length; i++) {
      const shown = i === this.at || (this.at >= 0 && this.near[this.at].includes(i)) || (this.at < 0 && this.degree[i] >= least && this.degree[i] > 0);
      if (!shown) continue;
      const [x, y] = this.place(i);
      if (x > -50 && y > 0 && x < this.box.clientWidth + 50 && y < this.box.clientHeight) c.fillText(this.g.t[i].slice(0, 40), x, y - this.radius(i) - 3);
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
    const step = 40;
    const moves: Record<string, [number, number]> = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
    if (moves[e.key]) {
      this.dx += moves[e.key][0];
      this.dy += moves[e.key][1];
      this.ask();
    } else if (e.key === "+" || e.key === "=") this.zoom(1.25, this.box.clientWidth / 2, this.box.clientHeight / 2);
    else if (e.key === "-") this.zoom(0.8, this.box.clientWidth / 2, this.box.clientHeight / 2);
    else if (e.key === "0") this.fit();
    else return;
    e.preventDefault();
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
      if (!moved && this.at >= 0) location.href = root() + encodeURI(this.g.p[this.at]);
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
    if (best === this.at) return;
    this.at = best;
    this.canvas.style.cursor = best >= 0 ? "pointer" : "grab";
    this.ask();
  }
}
