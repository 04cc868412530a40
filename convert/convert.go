package convert

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
	"unicode"
)

// What Convert refuses. Each error wraps one of these.
var (
	ErrUnknown   = errors.New("not a type that is converted")
	ErrEncrypted = errors.New("encrypted")
	ErrDamaged   = errors.New("damaged")
	ErrTooLarge  = errors.New("too large")
	ErrNoText    = errors.New("no text in it")
	ErrTimeout   = errors.New("conversion took too long")
)

// Limits on what one input may cost.
const (
	MaxInput    = 64 << 20 // bytes of an input
	MaxBody     = 1 << 20  // bytes of a document's Markdown, what a draft's file may have
	MaxDocs     = 10_000   // documents of an input
	MaxTime     = time.Minute
	maxExpanded = 256 << 20 // bytes that an archive's entries expand to, all together
	maxEntry    = 64 << 20  // bytes that one entry expands to
	maxEntries  = 20_000    // entries of an archive
	maxPicture  = 1 << 20   // bytes of an attachment
	maxPictures = 6 << 20   // bytes of a document's attachments
)

// Input is a file or an answer of a server.
type Input struct {
	Name      string // of the file, without directories; "" when there is none
	MediaType string // as a server states it, with its charset; "" when nobody does
	Base      string // URL that the input's relative links start from; "" when there is none
	Data      []byte
}

// Doc is one document as Markdown.
type Doc struct {
	Key         string // names the document among those of its input; "" for the only one
	Type        string // the format that it was: "html", "pdf"
	Title       string
	Authors     []string
	Created     time.Time // when it was published or written; zero when it does not say
	Tags        []string
	Body        string // ends with a newline; that of a Markdown file begins with its frontmatter, if it has one
	Attachments []Attachment
	Notices     []string // what was left out, and what a reader should know
}

// Attachment is a file that Body refers to, by its Name relative to the document.
type Attachment struct {
	Name string
	Data []byte
}

// A format is a type of file: how its bytes are told, and how they become
// Markdown.
type format struct {
	name    string
	is      func(*sniffed) bool
	convert func(context.Context, *sniffed) ([]Doc, error)
}

// formats in the order in which they are tried: what the bytes alone tell comes
// before what needs the name.
var formats = []format{
	{"pdf", isPDF, convertPDF},
	{"epub", isEPUB, convertEPUB},
	{"docx", isDOCX, convertDOCX},
	{"odt", isODT, convertODT},
	{"notebook", isNotebook, convertNotebook},
	{"chat", isChat, convertChat},
	{"feed", isFeed, convertFeed},
	{"json", isJSON, convertJSON},
	{"email", isEmail, convertEmail},
	{"html", isHTML, convertHTML},
	{"markdown", isMarkdown, convertMarkdown},
	{"csv", isCSV, convertCSV},
	{"text", isText, convertText},
}

// Convert makes documents of an input: one, except that an export of
// conversations and a feed give one for each. Errors wrap one of this package's, and say
// what was seen. What still runs when ctx or [MaxTime] ends is given up on: it
// ends by itself, at the latest with the process.
func Convert(ctx context.Context, in Input) ([]Doc, error) {
	if len(in.Data) > MaxInput {
		return nil, fmt.Errorf("%w: %d MB, at most %d are read", ErrTooLarge, len(in.Data)>>20, MaxInput>>20)
	}
	ctx, cancel := context.WithTimeout(ctx, MaxTime)
	defer cancel()
	type outcome struct {
		docs []Doc
		err  error
	}
	done := make(chan outcome, 1)
	go func() {
		docs, err := convertCaught(ctx, in)
		done <- outcome{docs, err}
	}()
	select {
	case r := <-done:
		return r.docs, r.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, fmt.Errorf("%w: more than %v", ErrTimeout, MaxTime)
		}
		return nil, ctx.Err()
	}
}

// convertCaught makes errors of the panics of parsers.
func convertCaught(ctx context.Context, in Input) (docs []Doc, err error) {
	name := "file"
	defer func() {
		if p := recover(); p != nil {
			docs, err = nil, fmt.Errorf("%w: the %s cannot be read: %.100s", ErrDamaged, name, fmt.Sprint(p))
		}
	}()
	s, err := sniff(in)
	if err != nil {
		return nil, err
	}
	for _, f := range formats {
		if !f.is(s) {
			continue
		}
		name = f.name
		if docs, err = f.convert(ctx, s); err != nil {
			return nil, err
		}
		return finish(f.name, s, docs)
	}
	return nil, fmt.Errorf("%w: %s", ErrUnknown, s.describe())
}

// finish gives documents what all have, and refuses those that are none.
func finish(name string, s *sniffed, docs []Doc) ([]Doc, error) {
	kept := docs[:0]
	for _, d := range docs {
		d.Body = tidy(d.Body)
		if visible := strings.Map(seen, d.Body); visible != d.Body {
			d.Body = visible
			d.Notices = append(d.Notices, "invisible characters are left out")
		}
		if strings.TrimSpace(d.Body) == "" {
			continue
		}
		if len(d.Body) > MaxBody {
			return nil, fmt.Errorf("%w: %s is %d KB of text, a note has at most %d", ErrTooLarge, quoted(d.Title), len(d.Body)>>10, MaxBody>>10)
		}
		if d.Type == "" {
			d.Type = name
		}
		if d.Title = oneLine(d.Title); d.Title == "" {
			d.Title = titleOfName(s.Name)
		}
		d.Authors, d.Tags = cleanList(d.Authors), cleanList(d.Tags)
		kept = append(kept, d)
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("%w: the %s is empty", ErrNoText, name)
	}
	return kept, nil
}

// mostTitle is the length of a title, in characters.
const mostTitle = 200

// oneLine is s as a title: on one line, without control characters, cut.
func oneLine(s string) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsGraphic(r) || r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > mostTitle {
		s = strings.TrimSpace(string(r[:mostTitle-1])) + "…"
	}
	return s
}

// mostListed bounds authors and tags.
const mostListed = 20

func cleanList(list []string) []string {
	out := []string{}
	seen := map[string]bool{}
	for _, s := range list {
		s = oneLine(s)
		if key := strings.ToLower(s); s != "" && !seen[key] && len(out) < mostListed {
			seen[key] = true
			out = append(out, s)
		}
	}
	return out
}

// titleOfName makes a title of a file's name.
func titleOfName(name string) string {
	name = path.Base(strings.ReplaceAll(name, `\`, "/"))
	stem := strings.TrimSuffix(name, path.Ext(name))
	if stem = oneLine(strings.NewReplacer("_", " ", "-", " ").Replace(stem)); stem == "" || stem == "." || stem == "/" {
		return "Untitled"
	}
	return stem
}

func quoted(title string) string {
	if title == "" {
		return "it"
	}
	return fmt.Sprintf("%q", title)
}

var blankLine = regexp.MustCompile(`(?m)^[ \t]+\n`)

// seen drops characters that a reader does not see, or that show text in another
// order than it has. Joiners, which scripts and emoji need, stay.
func seen(r rune) rune {
	switch {
	case r == 0x200b, r == 0x2060, r == 0x200e, r == 0x200f, r >= 0x80 && r < 0xa0,
		r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r >= 0xe0000 && r <= 0xe0fff:
		return -1
	}
	return r
}

// tidy ends lines with \n and the text with one, and drops control characters
// and the spaces of lines that have nothing else.
func tidy(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r == 0xfeff {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
	s = strings.TrimLeft(blankLine.ReplaceAllString(s, "\n"), "\n")
	return strings.TrimRight(s, "\n\t ") + "\n"
}
