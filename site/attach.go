package site

import (
	"bytes"
	"html"
	"path"
	"regexp"
	"strings"
)

// attachmentTypes are the files beside notes that a site publishes: what browsers
// show or save without running it.
var attachmentTypes = map[string]bool{
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".avif": true, ".bmp": true, ".ico": true, ".svg": true,
	".mp3": true, ".wav": true, ".ogg": true, ".oga": true, ".m4a": true, ".flac": true, ".opus": true,
	".mp4": true, ".webm": true, ".ogv": true, ".mov": true, ".m4v": true,
	".pdf": true, ".epub": true, ".txt": true, ".csv": true, ".tsv": true, ".json": true, ".yaml": true, ".yml": true, ".toml": true,
	".zip": true, ".gz": true, ".tgz": true, ".docx": true, ".xlsx": true, ".pptx": true, ".odt": true, ".ods": true, ".odp": true,
	".bib": true, ".ipynb": true, ".excalidraw": true, ".canvas": true,
}

// publishable returns a file as the site has it and its extension. Not ok: a
// browser could run it.
func publishable(name string, data []byte) (_ []byte, ext string, ok bool) {
	ext = strings.ToLower(path.Ext(name))
	if path.Base(name) == "kb.yaml" || strings.HasPrefix(name, ".") || strings.Contains(name, "/.") {
		return nil, "", false // configuration
	}
	if !attachmentTypes[ext] || ext == ".svg" && !inertSVG(data) {
		return nil, "", false
	}
	return data, ext, true
}

// liveSVG finds what could run or load something in an SVG file that is opened
// by itself: scripts, event handlers, foreign elements, entities, what a style
// hides, and references to anything but a part of the file or a picture within it.
var (
	liveSVG = regexp.MustCompile(`(?i)<\s*(?:[a-z0-9_-]+:)?(?:script|foreignobject|iframe|object|embed|handler|listener|set|animate)\b|[\s"'/]on[a-z]+\s*=|<!ENTITY|<!DOCTYPE[^>]*\[|<\?xml-stylesheet|@import|\bimage-set\(|\\[0-9a-z]|javascript:`)
	svgRefs = regexp.MustCompile(`(?i)(?:href|src)\s*=\s*(?:"([^"]*)"|'([^']*)')|\burl\(\s*["']?([^)]*)`)
)

func inertSVG(data []byte) bool {
	if bytes.HasPrefix(data, []byte{0xff, 0xfe}) || bytes.HasPrefix(data, []byte{0xfe, 0xff}) {
		return false
	}
	return inertXML(data) && inertXML([]byte(html.UnescapeString(string(data))))
}

func inertXML(data []byte) bool {
	if liveSVG.Match(data) {
		return false
	}
	for _, m := range svgRefs.FindAllSubmatch(data, -1) {
		ref := strings.TrimSpace(string(m[1]) + string(m[2]) + string(m[3]))
		if strings.Contains(ref, "&") || !strings.HasPrefix(ref, "#") && !strings.HasPrefix(ref, "data:image/png") && !strings.HasPrefix(ref, "data:image/jpeg") {
			return false
		}
	}
	return true
}
