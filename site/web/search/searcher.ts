// A searcher answers queries from the site's files.
import { Data, type Files, type Index, type Row } from "./data";
import { Engine, type Found } from "./engine";
import { type Excerpt, excerpt } from "./excerpt";
import { snowball, stemmerOf, type Translated } from "./stem";
import { Analyzer } from "./words";

export interface Result {
  row: Row;
  score: number;
  excerpt: () => Promise<Excerpt>;
}

export interface Answer {
  results: Result[];
  total: number;
  corrected: [string, string][];
  missing: string[];
  remark: string;
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
    if (index.v !== 1) throw new Error("the search data is of another version: load the page anew");
    const { stops, articles } = await files<{ stops: string[]; articles: string[] }>("stops", index.stops);
    const [language] = index.lang.toLowerCase().replaceAll("_", "-").split("-");
    const { stem, ready } = stemmerOf({ language, articles }, async (l) => (index.stems[l] ? snowball(await files<Translated>("stem", index.stems[l])) : undefined));
    const data = new Data(index, files);
    const analyzer = new Analyzer(stem);
    return new Searcher(data, new Engine(data, analyzer, new Set(stops)), analyzer, ready);
  }

  // rank returns the best notes by number.
  async rank(query: string, most: number): Promise<Found> {
    if (await this.ready(query)) this.analyzer.forget();
    return this.engine.search(query, most);
  }

  async search(query: string, most: number): Promise<Answer> {
    const found = await this.rank(query, most);
    const results = await Promise.all(
      found.hits.map(async (h) => ({
        row: await this.data.row(h.note),
        score: h.score,
        excerpt: async () => excerpt(await this.data.text(h.note), found.plan.units, this.analyzer),
      })),
    );
    return { results, total: found.total, corrected: found.corrected, missing: found.missing, remark: found.remark };
  }
}
