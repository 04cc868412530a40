// The stemmers that are not Snowball's are bleve's, a page of Go each: the files
// beside this one are the same by hand. The server's tests compare them word by word.
import type { Stemmer } from "../stem";

declare const kb: { stem: (make: (runtime: { words: (stem: Stemmer) => unknown }) => unknown) => void };

// handOver gives a stemmer to who loads the file.
export function handOver(stem: Stemmer): void {
  kb.stem((runtime) => runtime.words(stem));
}
