// The searcher for node, which the differential test runs: it reads the site's
// files from a directory, queries from standard input, a JSON string a line, and
// writes the best notes and their scores.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { Searcher } from "./searcher";
import { snowball } from "./stem";

const dir = process.argv[2];
const kb: Record<string, (...args: never[]) => void> = {};

function run(file: string): void {
  new Function("kb", readFileSync(dir + "/" + file, "utf8"))(kb);
}

async function files<T>(name: string, file: string): Promise<T> {
  return new Promise<T>((done) => {
    kb[name] = done as never;
    run(file);
  });
}

async function main(): Promise<void> {
  let search = "";
  kb.site = ((s: { search: string }) => (search = s.search)) as never;
  new Function("window", "kb", readFileSync(dir + "/kb/site.js", "utf8").replace(/^var kb=.*\n/, ""))({}, kb);
  const searcher = await Searcher.open(files, search, async (stems, language) => {
    let made: unknown;
    kb.stem = ((_: string, make: unknown) => (made = make)) as never;
    run(stems[language]);
    return snowball(made as never);
  });
  for await (const line of createInterface({ input: process.stdin })) {
    const answer = await searcher.search(JSON.parse(line) as string, 10);
    console.log(JSON.stringify(answer.results.map((r) => [r.row.p, r.score])));
  }
}

void main();
