// The site's data files are scripts that call a function of `kb`, so that one way
// of loading works from a server and from a disk.

export interface NavNode {
  t: string;
  p?: string;
  n?: number;
  i?: NavNode[];
}

export interface Site {
  title: string;
  commit: string;
  date: string;
  nav: string;
  search?: string;
}

type Receiver = (data: unknown) => void;
const kb = ((window as unknown as { kb: Record<string, unknown> }).kb ||= {});

// at is what kb/site.js says: it is loaded before.
export function at(): Site {
  return kb.at as Site;
}

export function root(): string {
  return document.documentElement.dataset.root || "";
}

const loading = new Map<string, Promise<unknown>>();

// load loads a data file once; the file calls kb[name] with its data.
export function load<T>(name: string, file: string): Promise<T> {
  let p = loading.get(file);
  if (!p) {
    p = new Promise<T>((done, failed) => {
      kb[name] = ((data: T) => done(data)) as Receiver;
      const script = document.createElement("script");
      script.src = root() + file;
      script.onerror = () => failed(new Error("cannot load " + file));
      document.head.append(script);
    });
    loading.set(file, p);
  }
  return p as Promise<T>;
}
