// Package index answers text searches over any set of notes, and exactly: the
// answer to a query depends on the notes of the view and the recipe alone, not
// on what else is stored, in how many pieces, or in which order it came.
//
// What the bytes of a note say to a searcher is stored once, under the hash of
// those bytes, in immutable [Segments]: files that any number of processes read
// and one writes, without a lock. A [View] is a list of (path, blob) pairs over
// them with its own statistics: number of notes, document frequencies, average
// lengths. Nothing that depends on a path is stored under a blob; the words of
// paths are held by the view, in memory.
//
// # Words
//
// One analysis serves all scripts. Letters and digits form words; words are
// folded (width, case, accents) and stemmed for the configured language;
// scripts that are written without spaces become pairs of characters. An
// identifier such as foo_bar or fooBar is found as a whole and by its parts.
// A word's position counts only its main term, so that phrases mean the same in
// text and in queries.
//
// # Score
//
// A note's score is BM25F: for each term of the query, its occurrences in each
// field, divided by the field's relative length and multiplied by the field's
// weight, are added up, and the sum saturates once. The constants stand in
// score.go and were chosen on the judged collections that eval_test.go reads.
//
// bleve lends what it does best: the format, reading and merging of segments,
// dictionaries, and what each language does to a word. Splitting text into words
// is ours, because bleve's tokenizer emits nothing for Thai and its like; so is
// searching, because bleve's statistics count dead notes and depend on how the
// index was cut into segments.
package index
