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
	if err := errors.Join(bundle("../assets"), translateStemmers("../assets/stem"), bundleNode("../testdata")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// bundle writes the scripts of this directory to dir. The same sources give the
// same bytes.
func bundle(dir string) error {
	for _, entry := range []string{"kb.ts", "early.ts"} {
		r := api.Build(api.BuildOptions{
			EntryPoints:       []string{entry},
			Bundle:            true,
			Format:            api.FormatIIFE,
			Target:            api.ES2020,
			MinifyWhitespace:  true,
			MinifySyntax:      true,
			MinifyIdentifiers: true,
			Charset:           api.CharsetUTF8,
			LegalComments:     api.LegalCommentsInline,
		})
		if len(r.Errors) > 0 {
			return fmt.Errorf("%s: %s", r.Errors[0].Location.File, r.Errors[0].Text)
		}
		name := filepath.Join(dir, entry[:len(entry)-len(".ts")]+".js")
		if err := os.WriteFile(name, r.OutputFiles[0].Contents, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// bundleNode writes the searcher that tests run in node.
func bundleNode(dir string) error {
	r := api.Build(api.BuildOptions{
		EntryPoints: []string{"search/node.ts"}, Bundle: true, Platform: api.PlatformNode, Format: api.FormatCommonJS, Target: api.ES2022, Charset: api.CharsetUTF8,
	})
	if len(r.Errors) > 0 {
		return fmt.Errorf("%s: %s", r.Errors[0].Location.File, r.Errors[0].Text)
	}
	return os.WriteFile(filepath.Join(dir, "search.js"), r.OutputFiles[0].Contents, 0o644)
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
