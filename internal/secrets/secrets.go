// Package secrets finds keys, tokens and passwords in text. It is pure, and knows
// nothing of notes.
//
// Its rules are those of the default configuration of gitleaks v8.30.1 (MIT,
// Copyright 2019 Zachary Rice) for the services that people write about most, and
// for what is a secret by its form; see docs/decisions/secrets.md for why they are
// a table here.
package secrets

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
)

// Finding is a secret in a text.
type Finding struct {
	What   string // whose it is, or what: "a GitHub token"
	Offset int    // of its first byte
	Hint   string // its first characters, which tell which one it is and no more
}

// Find returns the secrets of a text in order. Its work grows with the length of
// the text. What is plainly a placeholder is none.
func Find(text []byte) (found []Finding) {
	lower := bytes.ToLower(text)
	for i := range rules {
		if !rules[i].mayOccur(lower) {
			continue
		}
		for _, m := range rules[i].find().FindAllSubmatchIndex(text, -1) {
			start, end := m[0], m[1]
			if len(m) > 2 && m[2] >= 0 {
				start, end = m[2], m[3]
			}
			if secret := string(text[start:end]); rules[i].believes(secret) {
				found = append(found, Finding{rules[i].what, start, hint(secret)})
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Finding) int { return a.Offset - b.Offset })
	return slices.CompactFunc(found, func(a, b Finding) bool { return a.Offset == b.Offset })
}

// mayOccur looks for the rule's keywords, which is much faster than its pattern.
func (r *rule) mayOccur(lower []byte) bool {
	return slices.ContainsFunc(r.keywords, func(k string) bool { return bytes.Contains(lower, []byte(k)) })
}

// believes reports whether what matched is random enough, and no placeholder.
func (r *rule) believes(secret string) bool {
	if entropy(secret) < r.entropy || r.digits && !strings.ContainsAny(secret, "0123456789") {
		return false
	}
	return !placeholder.MatchString(secret)
}

// placeholder is what examples have in the place of a secret.
var placeholder = regexp.MustCompile(`(?i)example|your|changeme|placeholder|redacted|dummy|sample|test_?(key|token)|x{4}|\*{3}|\.{3}|1234567|abcdef|<|\$\{|\{\{|^\$`)

// entropy is Shannon's, in bits a byte.
func entropy(s string) (bits float64) {
	var count [256]int
	for i := range len(s) {
		count[s[i]]++
	}
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// hint is as much of a secret as may be shown.
func hint(secret string) string {
	line, _, _ := strings.Cut(secret, "\n")
	if r := []rune(line); len(r) > 8 {
		return string(r[:min(8, len(r)/3)]) + "…"
	}
	return "…"
}
