// Draws diagrams in a frame of its own: Mermaid needs styles that pages do not
// allow. The frame has no origin; it gets sources and gives pictures.
interface Mermaid {
  initialize(config: unknown): void;
  render(id: string, source: string): Promise<{ svg: string }>;
}

declare const mermaid: Mermaid;

let turn = Promise.resolve();

addEventListener("message", (e: MessageEvent) => {
  if (e.source !== parent) return;
  const { id, source, dark } = e.data as { id: number; source: string; dark: boolean };
  turn = turn.then(async () => {
    const answer = await draw(id, source, dark).catch((err) => ({ error: String(err.message || err) }));
    parent.postMessage({ id, ...answer }, "*");
  });
});

async function draw(id: number, source: string, dark: boolean) {
  const font = getComputedStyle(document.body).fontFamily;
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: "strict",
    secure: ["secure", "securityLevel", "startOnLoad", "maxTextSize", "maxEdges", "suppressErrorRendering", "htmlLabels", "themeCSS", "fontFamily"], // not a note's to say
    suppressErrorRendering: true,
    deterministicIds: true,
    theme: dark ? "dark" : "default",
    htmlLabels: false,
    flowchart: { htmlLabels: false, useMaxWidth: false },
    fontFamily: font,
  });
  const box = document.createElement("div");
  box.innerHTML = (await mermaid.render("d" + id, source)).svg;
  const svg = box.querySelector("svg")!;
  document.body.append(box);
  const view = svg.viewBox.baseVal;
  const [width, height] = view && view.width ? [view.width, view.height] : [svg.getBoundingClientRect().width, svg.getBoundingClientRect().height];
  const title = svg.querySelector("title")?.textContent || "";
  box.remove();
  svg.removeAttribute("style"); // its width is the picture's
  svg.setAttribute("width", String(width));
  svg.setAttribute("height", String(height));
  return { svg: new XMLSerializer().serializeToString(svg), width: Math.ceil(width), height: Math.ceil(height), title };
}

parent.postMessage({ ready: true }, "*");
