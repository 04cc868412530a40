// Package diff compares texts by their lines, and lines by their words. It is
// pure, and knows nothing of git or Markdown.
package diff
