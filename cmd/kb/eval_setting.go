package main

import (
	"fmt"
	"slices"
	"strings"

	"kb/vault"
)

// evalSetting is one way to answer the queries of an evaluation.
type evalSetting struct {
	text   string // as it was written
	mode   string
	model  string
	at     string
	config map[string]string // other keys of a configuration
}

// settingKeys are the keys of a setting, by all their names.
var settingKeys = map[string]string{
	"mode": "mode", "search.mode": "mode", "model": "model", "at": "at", "language": "language",
	"weight": "search.vector_weight", "search.vector_weight": "search.vector_weight",
	"diversity": "search.diversity", "search.diversity": "search.diversity",
	"ann": "vector.ann", "vector.ann": "vector.ann",
}

const settingHint = "a setting is text, vector, hybrid, a model, a revision (with --queries) or key=value, joined by +; " +
	"keys: mode, model, at, language, weight, diversity, ann"

// parseSettings reads the two settings of --compare. base is what they leave out.
func parseSettings(list string, base evalSetting, isModel func(string) bool) (pair [2]evalSetting, err error) {
	texts := strings.Split(list, ",")
	if len(texts) != 2 {
		return pair, &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("--compare %s names %d settings", list, len(texts)),
			Hint: "it takes two: kb eval DIR --compare text,hybrid"}
	}
	for i, text := range texts {
		if pair[i], err = parseSetting(strings.TrimSpace(text), base, isModel); err != nil {
			return pair, err
		}
	}
	return pair, nil
}

// parseSetting reads one setting: words and key=value, joined by +. One that
// names no mode is of the mode hybrid when it is about vectors, else of base's.
func parseSetting(text string, base evalSetting, isModel func(string) bool) (evalSetting, error) {
	s := evalSetting{text: text, model: base.model, at: base.at, config: map[string]string{}}
	given := map[string]bool{}
	for part := range strings.SplitSeq(text, "+") {
		key, value, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			key, value = wordKey(key, isModel), key
		}
		if key = settingKeys[key]; key == "" || value == "" || given[key] {
			return s, &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("--compare: %q in the setting %q", part, text), Hint: settingHint}
		}
		given[key] = true
		s.set(key, value)
	}
	if s.mode == "" {
		s.mode = base.mode
		if given["model"] || given["search.vector_weight"] || given["search.diversity"] || given["vector.ann"] {
			s.mode = "hybrid"
		}
	}
	return s, nil
}

func (s *evalSetting) set(key, value string) {
	switch key {
	case "mode":
		s.mode = value
	case "model":
		s.model = value
	case "at":
		s.at = value
	default:
		s.config[key] = value
	}
}

// wordKey is what a word alone stands for.
func wordKey(word string, isModel func(string) bool) string {
	switch {
	case word == "":
		return ""
	case slices.Contains([]string{"text", "vector", "hybrid"}, word):
		return "mode"
	case isModel(word):
		return "model"
	}
	return "at"
}
