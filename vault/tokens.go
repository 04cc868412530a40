package vault

import (
	"strings"
	"unicode/utf8"
)

// Tokens estimates how many tokens of a language model s costs: one for four
// bytes of Latin text, one for each wider character of scripts that are not
// written with spaces. It is within a fifth of o200k on English prose and errs
// upward on code.
func Tokens(s string) int {
	var c tokenCount
	for _, r := range s {
		c.add(r)
	}
	return c.tokens()
}

// tokenCount adds up characters by what they cost.
type tokenCount struct{ narrow, wide int }

func (c *tokenCount) add(r rune) {
	switch {
	case r < 0x80:
		c.narrow++
	case r < 0x2e80:
		c.narrow += 2
	default:
		c.wide++
	}
}

func (c *tokenCount) tokens() int { return (c.narrow+3)/4 + c.wide }

// cutTokens returns how many bytes of s fit into budget tokens, cut at the end
// of a section where one ends in the second half, else of a paragraph, else of a
// line, else of a word. A budget of 0 or less means no limit.
func cutTokens(s string, budget int) int {
	if budget <= 0 || Tokens(s) <= budget {
		return len(s)
	}
	end := 0
	var c tokenCount
	for i, r := range s {
		if c.add(r); c.tokens() > budget {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	head := s[:end]
	for _, border := range []string{"\n#", "\n\n", "\n", " "} {
		if i := strings.LastIndex(head, border); i > end/2 || i > 0 && border == "\n" {
			return i + len(strings.TrimRight(border, "# "))
		}
	}
	return end
}

// mostTagTokens is what the tags of one note among others may cost, in tokens: tags
// that tell notes apart are few.
const mostTagTokens = 400

// cutTags returns the first tags of a note that are within a budget, never nil, and
// what they cost.
func cutTags(tags []string, budget int) (first []string, cost int) {
	const quotes = 2
	first = []string{}
	for _, tag := range tags {
		more := quotes + Tokens(tag)
		if cost+more > budget {
			break
		}
		first, cost = append(first, tag), cost+more
	}
	return first, cost
}

// fewTags are the tags that are shown of a note among others.
func fewTags(tags []string) []string {
	few, _ := cutTags(tags, mostTagTokens)
	return few
}
