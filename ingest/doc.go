// Package ingest brings files and web pages into a vault, in steps that stand on
// their own: [Find] lists what is to be read, [Reader.Read] reads one source and
// converts it, [Adder.Add] hands what was read to the vault, in batches that are
// commits of their own. `kb add` is the three in a row.
//
// Reading and converting happens in the process of the person who asked, never in
// the one that owns the vault's derived data: what a hostile file does to a parser
// it does to that command.
package ingest
