// Package convert makes Markdown of files: web pages, PDF, office documents,
// books, tables, notebooks, mail and exported conversations. It is pure: it reads
// bytes, opens no file and no connection, and knows neither git nor vaults.
//
// What is converted is not trusted. Whatever the bytes, Convert ends within its
// time, in bounded memory, and with documents or an error: sizes are limited
// before and after expansion, parsers that panic are caught, and archives are read
// entry by entry.
//
// Office documents and books become HTML first, and all HTML is written as Markdown
// in one place (html_write.go), which escapes what a vault would take for markup.
package convert
