package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"embed"
	"fmt"
	"io"
)

// mermaidFiles are the library that draws diagrams, and the licences of what is in
// it, as mermaid/collect.sh fetched them.
//
//go:embed mermaid/*.gz
var mermaidFiles embed.FS

// Files of a site with diagrams. The first has a fixed name, so that pages do not
// change with the library.
const (
	diagramPage     = assetDir + "/diagram.html"
	diagramLicences = assetDir + "/diagram-licenses.txt"
)

// diagramPolicy is what the frame may load that draws diagrams: scripts of the
// site, and styles that they make. Nothing else, and nothing from elsewhere.
const diagramPolicy = "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"

// drawn ends the key of a page with diagrams.
const drawn = " diagrams"

func (b *builder) needDiagrams(yes bool) {
	if yes {
		b.withDiagrams.Store(true)
	}
}

// diagrams writes what draws diagrams, if a page has one.
func (b *builder) diagrams(context.Context) error {
	if !b.withDiagrams.Load() {
		return nil
	}
	library, err := b.putMermaid("mermaid.min.js.gz", "mermaid.js")
	if err != nil {
		return err
	}
	raw, err := assetFiles.ReadFile("assets/frame.js")
	if err != nil {
		return fmt.Errorf("embedded file: %w", err)
	}
	frame, err := b.putHashed("frame.js", raw)
	if err != nil {
		return err
	}
	page, err := render("diagram", struct{ Policy, Library, Frame string }{diagramPolicy, relative(diagramPage, library), relative(diagramPage, frame)})
	if err != nil {
		return err
	}
	if err := b.out.put(diagramPage, "", page); err != nil {
		return err
	}
	licences, err := unzip("licenses.txt.gz")
	if err != nil {
		return err
	}
	return b.out.put(diagramLicences, "", licences)
}

func (b *builder) putMermaid(file, as string) (string, error) {
	data, err := unzip(file)
	if err != nil {
		return "", err
	}
	return b.putHashed(as, data)
}

func unzip(name string) ([]byte, error) {
	raw, err := mermaidFiles.ReadFile("mermaid/" + name)
	if err != nil {
		return nil, fmt.Errorf("embedded file: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil, fmt.Errorf("embedded file %s: %w", name, err)
	}
	return io.ReadAll(z)
}
