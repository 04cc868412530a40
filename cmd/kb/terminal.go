package main

import (
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"kb/vault"
)

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// text is the way to write for the standard output.
func (c *cli) text(w io.Writer) *vault.Text {
	t := vault.NewText(w)
	if !isTerminal(c.out) {
		return t
	}
	t.Width = 80
	if width, _, err := term.GetSize(int(c.out.Fd())); err == nil && width > 0 {
		t.Width = min(width, 120)
	}
	t.Color = !c.flags.NoColor && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return t
}

// fileURLs returns the file:// URL of a note for hyperlinks.
func fileURLs(cfg *vault.Config) func(collection, path string) string {
	return func(collection, path string) string {
		for _, c := range cfg.Collections {
			if c.Name == collection {
				return (&url.URL{Scheme: "file", Path: filepath.ToSlash(c.Path) + "/" + path}).String()
			}
		}
		return ""
	}
}

// oneLine is a text that may repeat what a note or a name says, for a terminal.
func oneLine(s string) string {
	return new(vault.Text).Plain(strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " "))
}

// progress shows on a terminal how far work is that takes over a second.
type progress struct {
	out   io.Writer
	start time.Time
	bar   *progressbar.ProgressBar
	what  string
}

func (c *cli) newProgress() *progress {
	if c.flags.Quiet || !isTerminal(c.err) {
		return &progress{}
	}
	return &progress{out: c.err, start: time.Now()}
}

func (p *progress) report(done, total int, what string) {
	if p.out == nil || time.Since(p.start) < time.Second {
		return
	}
	if p.bar == nil || p.what != what {
		p.finish()
		p.what = what
		size := int64(total)
		if total == 0 {
			size = -1
		}
		p.bar = progressbar.NewOptions64(size,
			progressbar.OptionSetWriter(p.out),
			progressbar.OptionSetDescription(what),
			progressbar.OptionShowCount(),
			progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(),
			progressbar.OptionThrottle(100*time.Millisecond))
	}
	_ = p.bar.Set(done) // a bar that cannot be drawn is no reason to stop
}

func (p *progress) finish() {
	if p.bar != nil {
		_ = p.bar.Clear()
		p.bar = nil
	}
}
