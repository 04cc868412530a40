// Command web bundles the site's scripts into ../assets. It is a module of its
// own: the program itself does not need the bundler.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if err := bundle("../assets"); err != nil {
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
			return fmt.Errorf("%s: %s", entry, r.Errors[0].Text)
		}
		name := filepath.Join(dir, entry[:len(entry)-len(".ts")]+".js")
		if err := os.WriteFile(name, r.OutputFiles[0].Contents, 0o644); err != nil {
			return err
		}
	}
	return nil
}
