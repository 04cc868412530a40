package models

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"kb/vector"
)

// An Entry is a model that kb knows, or that is installed, or both.
type Entry struct {
	Name      string `json:"name"`
	Dim       int    `json:"dim"`
	Size      int64  `json:"size"` // bytes; 0 when nobody said
	Licence   string `json:"licence,omitempty"`
	Engine    string `json:"engine"`
	Speed     string `json:"speed,omitempty"`
	Languages string `json:"languages,omitempty"`
	About     string `json:"about,omitempty"`
	Source    string `json:"source,omitempty"`
	Revision  string `json:"revision,omitempty"`
	Default   bool   `json:"default,omitempty"`
	Installed bool   `json:"installed"`
	InUse     bool   `json:"in_use"` // the configuration names it
}

// Catalog returns the models that kb knows, the default one first, and then
// other installed ones by name. configured is the one that a vault uses.
func (s *Store) Catalog(configured string) ([]Entry, error) {
	installed, err := s.List()
	if err != nil {
		return nil, err
	}
	var all []Entry
	for _, m := range vector.Models() {
		all = append(all, Entry{
			Name: m.Name, Dim: m.Dim, Size: m.Size(), Licence: m.Licence, Engine: m.Engine, Speed: m.Speed, Languages: m.Languages,
			About: m.About, Source: m.Repository, Revision: m.Revision, Default: m.Name == vector.DefaultModel, InUse: m.Name == configured,
		})
	}
	for _, m := range installed {
		i := slices.IndexFunc(all, func(e Entry) bool { return e.Name == m.Name })
		if i < 0 {
			i = len(all)
			all = append(all, Entry{Name: m.Name, Dim: m.Dim, Source: m.Source, InUse: m.Name == configured})
		}
		e := &all[i]
		e.Installed, e.Size = true, m.Size
		if m.Engine != "" {
			e.Engine = m.Engine
		}
	}
	return all, nil
}

// PullNamed is [Store.Pull] of the model that kb knows by a name.
func (s *Store) PullNamed(ctx context.Context, hub *Hub, name string) (r *Report, already bool, err error) {
	m, ok := vector.ModelByName(name)
	if !ok {
		return nil, false, fmt.Errorf("model %q: %w", name, ErrUnknown)
	}
	return s.Pull(ctx, hub, m)
}

// Known reports whether kb knows a model by a name.
func Known(name string) bool {
	_, ok := vector.ModelByName(name)
	return ok
}

// KnownNames lists the names that kb knows.
func KnownNames() string {
	var names []string
	for _, m := range vector.Models() {
		names = append(names, m.Name)
	}
	return strings.Join(names, ", ")
}
