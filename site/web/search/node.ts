// The searcher for node, which tests run. `search.js DIR` reads queries from
// standard input, a JSON string a line, and writes what the site in DIR finds: notes,
// pages and scores. `search.js DIR words` reads words instead, with the grammar that they are
// read by, and writes the tokens of each; DIR has the stemmers then.
import { existsSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Searcher } from "./searcher";
import { type Grammar, snowball, stemmerOf, type Translated } from "./stem";
import { Analyzer } from "./words";

const [dir, mode] = process.argv.slice(2);
const kb: Record<string, (data: never) => void> = {};

function files<T>(name: string, file: string): Promise<T> {
  return new Promise<T>((done) => {
    kb[name] = done;
    new Function("kb", readFileSync(dir + "/" + file.split("?")[0], "utf8"))(kb);
  });
}

async function lines<T>(answer: (line: T) => Promise<unknown>): Promise<void> {
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
    console.log(JSON.stringify(await answer(JSON.parse(line) as T)));
  }
}

async function queries(): Promise<void> {
  const kb = {} as { at: { search: string } };
  new Function("window", readFileSync(dir + "/kb/site.js", "utf8"))({ kb });
  const searcher = await Searcher.open(files, kb.at.search);
  await lines(async (query: string) => (await (await searcher.search(query)).results(0, 10)).map((r) => ({ note: r.note, page: r.row.p, score: r.score })));
}

async function words(): Promise<void> {
  const stemmer = async (language: string) => {
    const file = `stem-${language}.js`;
    return existsSync(dir + "/" + file) ? snowball(await files<Translated>("stem", file)) : undefined;
  };
  await lines(async (grammar: Grammar & { words: string[] }) => {
    const { stem, ready } = stemmerOf(grammar, stemmer);
    const analyzer = new Analyzer(stem);
    await ready(grammar.words.join(" "));
    return grammar.words.map((w) => analyzer.tokens(w).map((t) => [t.term, t.raw, t.kind]));
  });
}

void (mode === "words" ? words() : queries());
