// Arabic: one article or conjunction goes from the front, endings from the back.
import { normalizeArabic } from "./arabic";
import { handOver } from "./hand";

const prefixes = ["ال", "وال", "بال", "كال", "فال", "لل", "و"];
const suffixes = ["ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي"];

handOver((word) => {
  let s = normalizeArabic(word);
  const p = prefixes.find((p) => s.startsWith(p) && s.length - p.length >= (p.length === 1 ? 3 : 2));
  if (p) s = s.slice(p.length);
  for (const e of suffixes) if (s.endsWith(e) && s.length - e.length >= 2) s = s.slice(0, -e.length);
  return s;
});
