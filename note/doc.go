// Package note says what the bytes of one note mean: its properties, headings,
// links, tags, chunks and plain facts, how links among notes resolve, and the
// HTML of a note. It is pure: it reads no file, knows no path but those given to a [Resolver], and
// the same bytes give the same [Note] everywhere.
//
// Notes are Markdown as CommonMark and GitHub define it (tables, strikethrough,
// task lists, bare URLs, footnotes) with Obsidian's additions ([[wikilinks]],
// ![[embeds]], #tags, ==highlights==, %%comments%%, ^block-ids, callouts, $math$,
// ^[footnotes], tasks of any state), under YAML, TOML or Logseq properties. One
// parser configuration, in markdown.go, serves everything that reads Markdown.
//
// Notes are untrusted. Parse never panics and never fails, and its work grows
// with the length of the text: text is cut at [MaxText]; frontmatter above 256
// KiB, or above 64 KiB if it is not plain, is body text; quotes and lists nest
// some 64 blocks deep; a paragraph above 8 KiB is read as several; a line above
// 1 KiB is no heading, above 8 KiB no table; and tables and footnotes whose
// reading would multiply are text. See bounds.go.
package note
