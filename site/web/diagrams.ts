// Diagrams are drawn when the reader comes to them, by a frame that is loaded for
// the first. What it gives is shown as a picture, in which nothing can run. The
// source stays at hand, and is all there is where scripts do not run.
import { element } from "./page";
import { root } from "./site";

interface Answer {
  ready?: boolean;
  id?: number;
  svg?: string;
  width?: number;
  height?: number;
  title?: string;
  error?: string;
}

const html = document.documentElement;
const schemes = matchMedia("(prefers-color-scheme: dark)");

export function diagrams(): void {
  const sources = [...document.querySelectorAll<HTMLElement>("pre.mermaid")];
  if (!sources.length) return;
  const drawn: Diagram[] = [];
  const seen = new IntersectionObserver(
    (entries) => {
      for (const e of entries) {
        if (!e.isIntersecting) continue;
        seen.unobserve(e.target);
        const d = new Diagram(e.target as HTMLElement);
        drawn.push(d);
        d.draw();
      }
    },
    { rootMargin: "300px" },
  );
  for (const s of sources) seen.observe(s);
  const again = () => drawn.forEach((d) => d.draw());
  schemes.addEventListener("change", again);
  new MutationObserver(again).observe(html, { attributes: true, attributeFilter: ["data-theme"] });
}

// A Diagram is a source and, once it is drawn, its picture.
class Diagram {
  private source: string;
  private image?: HTMLImageElement;

  constructor(private pre: HTMLElement) {
    this.source = pre.textContent || "";
  }

  draw(): void {
    ask(this.source, (a) => (a.svg ? this.show(a) : this.fail(a.error || "")));
  }

  private show(a: Answer): void {
    if (!this.image) {
      this.image = element("img", { className: "diagram" });
      const summary = element("summary", { textContent: "Source of the diagram" });
      const figure = element("figure", { className: "diagram" }, this.image);
      this.pre.replaceWith(figure);
      figure.append(element("details", {}, summary, this.pre));
    }
    this.image.alt = a.title || "Diagram";
    this.image.width = a.width!;
    this.image.height = a.height!;
    this.image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(a.svg!);
  }

  private fail(why: string): void {
    if (this.image || this.pre.previousElementSibling?.className === "notice") return;
    this.pre.before(element("p", { className: "notice", textContent: "This diagram cannot be drawn: " + why.split("\n")[0] }));
  }
}

let frame: HTMLIFrameElement | undefined;
let ready = false;
const asked = new Map<number, (a: Answer) => void>();
const waiting: unknown[] = [];
let count = 0;

// ask has a source drawn.
function ask(source: string, then: (a: Answer) => void): void {
  const dark = html.dataset.theme ? html.dataset.theme === "dark" : schemes.matches;
  const id = ++count;
  asked.set(id, then);
  const question = { id, source, dark };
  if (ready) frame!.contentWindow!.postMessage(question, "*");
  else waiting.push(question);
  if (frame) return;
  addEventListener("message", answer);
  frame = element("iframe", { className: "diagram-frame", title: "Diagrams", tabIndex: -1, src: root() + "kb/diagram.html" });
  if (location.protocol !== "file:") frame.setAttribute("sandbox", "allow-scripts"); // from disk, one without an origin may load nothing
  frame.setAttribute("aria-hidden", "true");
  document.body.append(frame);
}

function answer(e: MessageEvent): void {
  if (e.source !== frame?.contentWindow) return;
  const a = e.data as Answer;
  if (a.ready) {
    ready = true;
    for (const q of waiting.splice(0)) frame!.contentWindow!.postMessage(q, "*");
  }
  asked.get(a.id!)?.(a);
  asked.delete(a.id!);
}
