// Command web bundles the site's scripts into ../assets. It is a module of its
// own: the program itself does not need the bundler.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if err := errors.Join(bundle("../assets"), translateStemmers("../assets/stem"), bundleStemmers("../assets/stem"), bundleNode("../testdata")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bundle writes the scripts of this directory to dir. The same sources give the
// same bytes.
func bundle(dir string) error {
	for _, entry := range []string{"kb", "early", "frame"} {
		if err := build(entry+".ts", filepath.Join(dir, entry+".js"), forBrowsers); err != nil {
			return err
		}
	}
	return nil
}

var forBrowsers = api.BuildOptions{
	Format:            api.FormatIIFE,
	Target:            api.ES2020,
	MinifyWhitespace:  true,
	MinifySyntax:      true,
	MinifyIdentifiers: true,
	LegalComments:     api.LegalCommentsInline,
}

// bundleStemmers writes the stemmers that are in TypeScript to dir.
func bundleStemmers(dir string) error {
	for _, lang := range []string{"ar", "ckb", "fa", "hi", "hr", "pt"} {
		if err := build("search/stem/"+lang+".ts", filepath.Join(dir, "stem-"+lang+".js"), forBrowsers); err != nil {
			return err
		}
	}
	return nil
}

// bundleNode writes the searcher that tests run in node.
func bundleNode(dir string) error {
	return build("search/node.ts", filepath.Join(dir, "search.js"), api.BuildOptions{
		Platform: api.PlatformNode, Format: api.FormatCommonJS, Target: api.ES2022,
	})
}

// build bundles what begins at entry into a file.
func build(entry, file string, o api.BuildOptions) error {
	o.EntryPoints, o.Bundle, o.Charset = []string{entry}, true, api.CharsetUTF8
	r := api.Build(o)
	if len(r.Errors) > 0 {
		return fmt.Errorf("%s: %s", entry, r.Errors[0].Text)
	}
	return os.WriteFile(file, r.OutputFiles[0].Contents, 0o644)
}

// minify shortens a script without bundling anything.
func minify(js string) (string, error) {
	r := api.Transform(js, api.TransformOptions{
		Target: api.ES2020, MinifyWhitespace: true, MinifySyntax: true, MinifyIdentifiers: true, LegalComments: api.LegalCommentsNone,
	})
	if len(r.Errors) > 0 {
		return "", fmt.Errorf("%s at %d", r.Errors[0].Text, r.Errors[0].Location.Line)
	}
	return string(r.Code), nil
}
