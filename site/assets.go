package site

import (
	"context"
	"embed"
	"fmt"

	"kb/note"
)

// assetFiles are the style, the scripts and the pictures of every site. The
// scripts are made from web/ by `make site-assets`.
//
//go:embed assets
var assetFiles embed.FS

// assets writes what every site has and notes its names.
func (b *builder) assets(context.Context) error {
	b.site = &siteData{Title: b.set.Title, Language: b.set.Language, Policy: policy}
	if b.site.Language == "" {
		b.site.Language = "en"
	}
	for _, a := range []struct {
		file string
		name *string
	}{
		{"kb.css", &b.site.Style},
		{"kb.js", &b.site.Script},
		{"early.js", &b.site.Early},
		{"icon.svg", &b.site.Icon},
	} {
		raw, err := assetFiles.ReadFile("assets/" + a.file)
		if err != nil {
			return fmt.Errorf("embedded file: %w", err)
		}
		if *a.name, err = b.putHashed(a.file, raw); err != nil {
			return err
		}
	}
	if err := b.custom(); err != nil {
		return err
	}
	k := keyer{}
	k.put(Recipe, note.Recipe, fmt.Sprintf("%q", *b.site), b.set.BaseURL)
	b.siteKey = k.sum()
	return nil
}
