// Sorani Kurdish.
import { handOver } from "./hand";

const same: Record<string, string> = {
  "\u064a": "\u06cc", "\u0649": "\u06cc", "\u0643": "\u06a9", "\u0629": "\u06d5", "\u06be": "\u0647", "\u0692": "\u0695",
};
const heh = "\u0647";
const ae = "\u06d5";

function normalize(word: string): string {
  let out = "";
  const s = Array.from(word);
  s.forEach((c, i) => {
    if (c === "\u200c") out = out.endsWith(heh) ? out.slice(0, -1) + ae : out;
    else if (/[\u0640\u064b-\u0652]|\p{Cf}/u.test(c)) return;
    else if (c === heh && i === s.length - 1) out += ae;
    else if (c === "\u0631" && out === "") out += "\u0695";
    else out += same[c] || c;
  });
  return out;
}

// Endings with the length that a word must exceed, and how many characters go.
type Rule = [number, string, number];
const ezafe: Rule[] = [[6, "ێکی", 3], [7, "یەکی", 4]];
const endings: Rule[] = [
  [5, "ێک", 2], [6, "یەک", 3], [6, "ەکە", 3], [5, "کە", 2], [7, "ەکان", 4], [6, "کان", 3], [7, "یانی", 4], [6, "انی", 3],
  [6, "یان", 3], [5, "ان", 2], [7, "یانە", 4], [6, "انە", 3], [5, "ایە", 2], [5, "ەیە", 2], [4, "ە", 1], [4, "ی", 1],
];

function first(s: string, rules: Rule[]): string {
  const n = Array.from(s).length;
  const rule = rules.find(([least, ending]) => n > least && s.endsWith(ending));
  return rule ? s.slice(0, s.length - rule[2]) : s;
}

handOver((word) => {
  let s = first(normalize(word), [[5, "دا", 2], [4, "نا", 1], [6, "ەوە", 3]]);
  s = first(s, [[6, "مان", 3], [6, "یان", 3], [6, "تان", 3]]);
  const singular = first(s, ezafe);
  return singular === s ? first(s, endings) : singular;
});
