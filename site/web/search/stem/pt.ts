// Portuguese: bleve's light stemmer.
import { handOver } from "./hand";

// What the end of a word becomes, if the word has more characters than so many.
type Rule = [number, RegExp, string];

const plural: Rule[] = [
  [4, /([rslz])es$/, "$1"], [3, /ns$/, "m"], [4, /[eé]is$/, "el"], [4, /ais$/, "al"], [4, /óis$/, "ol"], [4, /is$/, "il"],
  [3, /[õã]es$/, "ão"], [6, /mente$/, ""], [3, /s$/, ""],
];
const feminine: Rule[] = [
  [7, /(inh|iac|eir)a$/, "$1o"], [6, /(os|ic|id|ad|iv|am)a$/, "$1o"], [6, /ona$/, "ão"], [6, /ora$/, "or"], [6, /esa$/, "ês"], [6, /na$/, "no"],
];

const length = (s: string): number => Array.from(s).length;

function first(s: string, rules: Rule[]): string {
  const n = length(s);
  const rule = rules.find(([least, end]) => n > least && end.test(s));
  return rule ? s.replace(rule[1], rule[2]) : s;
}

const plain: Record<string, string> = { à: "a", á: "a", â: "a", ä: "a", ã: "a", ç: "c" };
for (const [vowel, all] of [["o", "òóôöõ"], ["e", "èéêë"], ["u", "ùúûü"], ["i", "ìíîï"]]) for (const c of all) plain[c] = vowel;

handOver((word) => {
  if (length(word) < 4) return word;
  let s = first(word, plural);
  if (length(s) > 3 && s.endsWith("a")) s = first(s, feminine);
  if (length(s) > 4) s = s.replace(/[eao]$/, "");
  return s.replace(/./gu, (c) => plain[c] || c);
});
