// Persian: letters only.
import { normalizeArabic } from "./arabic";
import { handOver } from "./hand";

handOver((word) =>
  normalizeArabic(word).replace(/[\u06cc\u06d2]/g, "\u064a").replaceAll("\u06a9", "\u0643").replace(/[\u06c0\u06c1]/g, "\u0647").replaceAll("\u0654", ""),
);
