// normalizeArabic writes letters one way that are written in several, and leaves out
// vowel points and stretching.
export function normalizeArabic(s: string): string {
  return s.replace(/[آأإ]/g, "ا").replaceAll("ى", "ي").replaceAll("ة", "ه").replace(/[\u0640\u064b-\u0652]/g, "");
}
