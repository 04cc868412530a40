package vault

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/goccy/go-yaml"
)

// YAML returns c as a kb.yaml with every default written out.
func (c *Config) YAML() (string, error) {
	b, err := yaml.Marshal(c)
	if err != nil {
		return "", errorf(Internal, "write configuration: %w", err)
	}
	return string(b), nil
}

// ConfigTemplate returns a commented kb.yaml for the repository around dir.
func ConfigTemplate(dir string) (string, error) {
	root, err := repositoryRoot(dir)
	if err != nil {
		return "", err
	}
	return configText([]CollectionConfig{{
		Name: collectionName(strings.TrimSuffix(filepath.Base(root), ".git")), Path: ".",
		Description: "What these notes are about, in a sentence an agent can use", Writable: true,
	}}), nil
}

// configText writes a commented kb.yaml with those collections.
func configText(cols []CollectionConfig) string {
	var b strings.Builder
	b.WriteString(`# kb.yaml - paths are relative to this file. Every key but collections may be left out.

collections:
`)
	for _, c := range cols {
		fmt.Fprintf(&b, "  - name: %s\n    path: %s\n", yamlString(c.Name), yamlString(c.Path))
		if c.Description != "" {
			fmt.Fprintf(&b, "    description: %s\n", yamlString(c.Description))
		}
		fmt.Fprintf(&b, "    writable: %t            # may agents propose notes here, as drafts?\n", c.Writable)
		for i, s := range c.Sections {
			if i == 0 {
				b.WriteString("    sections:\n")
			}
			fmt.Fprintf(&b, "      - {prefix: %s, description: %s}\n", yamlString(s.Prefix), yamlString(s.Description))
		}
	}
	b.WriteString(`    # include: ["**/*.md", "**/*.markdown"]
    # exclude: ["templates/**"]
    # sections:
    #   - {prefix: guides, description: How-to guides}

# view: worktree          # what is read by default: worktree, HEAD or a branch
# draft_base: main        # where drafts start and are merged; default: the checked-out branch
# language: en            # stemming; other scripts are always handled
# cache_dir: ~/.cache/kb  # derived data; safe to delete
# protected: ["legal/**"] # paths that no draft may touch
# review: {required: [title, tags, created], min_words: 3, online: false}   # what a draft must have to be merged
# search: {max_results: 10, max_limit: 50, min_score: 0}
# model: bge-small-en-v1.5 # an installed embedding model (kb model list), or none
# site: {title: Notes, exclude: ["inbox/**"]}  # kb site build
# visibility: {default: public, private: ["journal/**"]}   # agents and sites do not show private notes
`)
	return b.String()
}

// yamlString quotes s only where YAML would read it otherwise. A JSON string is
// a YAML string.
func yamlString(s string) string {
	plain := s != "" && !strings.ContainsAny(s, ":#{}[],&*!|>'\"%@`\\\n\t") && strings.TrimSpace(s) == s && s[0] != '-' && s[0] != '?'
	var v any
	if plain && yaml.Unmarshal([]byte(s), &v) == nil {
		if got, ok := v.(string); ok && got == s {
			return s
		}
	}
	q, _ := json.Marshal(s)
	return string(q)
}
