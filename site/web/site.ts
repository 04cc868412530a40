// The site's data files are scripts that call a function of `kb`, so that one way
// of loading works from a server and from a disk.

export interface NavNode {
  t: string;
  p?: string;
  n?: number;
  i?: NavNode[];
  f?: string; // has them
}

export interface Site {
  title: string;
  commit: string;
  date: string;
  nav: string;
  search?: string;
  graph?: string;
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
const waiting = new Map<unknown, Receiver>(); // by script element

// load loads a data file once; the file calls kb[name] with its data. Files of one
// name may be under way side by side.
export function load<T>(name: string, file: string): Promise<T> {
  let p = loading.get(file);
  if (!p) {
    kb[name] ||= (data: unknown) => waiting.get(document.currentScript)?.(data);
    p = new Promise<T>((done, failed) => {
      const script = document.createElement("script");
      const end = () => {
        waiting.delete(script);
        script.remove();
      };
      waiting.set(script, done as Receiver);
      script.src = root() + file;
      script.onload = end;
      script.onerror = () => {
        end();
        loading.delete(file); // it may be tried again
        failed(new Error("cannot load " + file));
      };
      document.head.append(script);
    });
    loading.set(file, p);
  }
  return p as Promise<T>;
}
