// A searcher answers queries from the site's files.
import { Data, type Files, type Index, type Row, version } from "./data";
import { Engine } from "./engine";
import { type Excerpt, excerpt } from "./excerpt";
import { snowball, stemmerOf, type Translated } from "./stem";
import { Analyzer } from "./words";

export interface Result {
  note: number;
  row: Row;
  score: number;
  excerpt: () => Promise<Excerpt>; // loads the note's text
}

export interface Answer {
  total: number;
  corrected: [string, string][];
  missing: string[];
  remark: string;
  results: (from: number, to: number) => Promise<Result[]>; // best first
}

export class Searcher {
  private constructor(
    private data: Data,
    private engine: Engine,
    private analyzer: Analyzer,
    private ready: (text: string) => Promise<boolean>,
  ) {}

  static async open(files: Files, file: string): Promise<Searcher> {
    const index = await files<Index>("search", file);
    if (index.v !== version) throw new Error("the search data is of another version: load the page anew");
    const [language] = index.lang.toLowerCase().replaceAll("_", "-").split("-");
    const { stem, ready } = stemmerOf({ language, articles: index.articles }, async (l) => (index.stems[l] ? snowball(await files<Translated>("stem", index.stems[l])) : undefined));
    const data = new Data(index, file.split(".")[1], files);
    void data.begin().catch(() => {}); // a query waits for it, and says so
    const analyzer = new Analyzer(stem);
    return new Searcher(data, new Engine(data, analyzer, new Set(index.stops)), analyzer, ready);
  }

  async search(query: string): Promise<Answer> {
    if (await this.ready(query)) this.analyzer.forget();
    const { hits, plan, ...said } = await this.engine.search(query);
    const result = async (h: (typeof hits)[number]): Promise<Result> => ({
      note: h.note,
      row: await this.data.row(h.note),
      score: h.score,
      excerpt: async () => excerpt(await this.data.text(h.note), plan.units, this.analyzer),
    });
    return { ...said, total: hits.length, results: (from, to) => Promise.all(hits.slice(from, to).map(result)) };
  }
}
