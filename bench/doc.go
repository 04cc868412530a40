// Command bench measures kb against what people use instead: SQLite FTS5,
// ripgrep, git grep and git status; its sites against Hugo and Pagefind; and under
// load, a server of others.
//
//	go run ./bench -kb bin/kb [-data DIR] [-only build,query] [-quick] [-json FILE]
//
// It drives kb as users do: commands for cold starts, and a `kb mcp` process
// spoken to over stdio for warm latencies. What is compared runs in turn
// (A B A B …) in one run, so that a busy machine disturbs both alike; figures
// are medians and ratios. Everything is made in a temporary directory. A part
// whose tool or data is missing says so and is left out.
//
// Each measurement is a file part_*.go; docs/benchmarks.md explains the figures.
// The program knows kb only from outside: it imports none of its packages.
package main
