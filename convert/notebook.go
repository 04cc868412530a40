package convert

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

func isNotebook(s *sniffed) bool {
	return s.text != "" && (s.ext == ".ipynb" || strings.HasPrefix(strings.TrimSpace(s.text), "{") && strings.Contains(s.text, `"nbformat"`) && strings.Contains(s.text, `"cells"`))
}

// notebook is a Jupyter notebook, of format 4.
type notebook struct {
	Cells    []notebookCell `json:"cells"`
	Metadata struct {
		Title   string `json:"title"`
		Authors []struct {
			Name string `json:"name"`
		} `json:"authors"`
		Language struct {
			Name string `json:"name"`
		} `json:"language_info"`
		Kernel struct {
			Language string `json:"language"`
		} `json:"kernelspec"`
	} `json:"metadata"`
	Format int `json:"nbformat"`
}

type notebookCell struct {
	Type        string                       `json:"cell_type"`
	Source      lines                        `json:"source"`
	Outputs     []notebookOutput             `json:"outputs"`
	Attachments map[string]map[string]string `json:"attachments"`
}

type notebookOutput struct {
	Type      string                     `json:"output_type"`
	Text      lines                      `json:"text"`
	Data      map[string]json.RawMessage `json:"data"`
	Name      string                     `json:"ename"`
	Value     string                     `json:"evalue"`
	Traceback []string                   `json:"traceback"`
}

// lines is a text that a notebook may give in pieces.
type lines string

// UnmarshalJSON reads a text or a list of texts.
func (l *lines) UnmarshalJSON(raw []byte) error {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		*l = lines(one)
		return nil
	}
	var list []string
	if err := json.Unmarshal(raw, &list); err != nil {
		return err
	}
	*l = lines(strings.Join(list, ""))
	return nil
}

// convertNotebook takes the text cells of a notebook as they are, its code between
// fences, and what the code printed or drew.
func convertNotebook(_ context.Context, s *sniffed) ([]Doc, error) {
	var n notebook
	if err := json.Unmarshal([]byte(s.text), &n); err != nil {
		return nil, fmt.Errorf("%w: the notebook: %w", ErrDamaged, err)
	}
	if n.Format < 4 {
		return nil, fmt.Errorf("%w: a notebook of format %d: jupyter nbconvert --to notebook makes one of format 4", ErrUnknown, n.Format)
	}
	d := Doc{Title: n.Metadata.Title}
	for _, a := range n.Metadata.Authors {
		d.Authors = append(d.Authors, a.Name)
	}
	lang := n.Metadata.Language.Name
	if lang == "" {
		lang = n.Metadata.Kernel.Language
	}
	w := &notebookWriter{htmlWriter{doc: &d}, strings.Builder{}, lang}
	for _, c := range n.Cells {
		w.cell(c)
	}
	d.Body = w.String()
	w.notices()
	if d.Title == "" {
		d.Title = titleOfMarkdown(d.Body)
	}
	return []Doc{d}, nil
}

var firstHeading = regexp.MustCompile(`(?m)^# +(.+)$`)

func titleOfMarkdown(body string) string {
	if m := firstHeading.FindStringSubmatch(body); m != nil {
		return strings.Trim(m[1], "# *_`")
	}
	return ""
}

type notebookWriter struct {
	htmlWriter
	strings.Builder
	lang string
}

var attachedPicture = regexp.MustCompile(`\(attachment:([^)\s]+)\)`)

func (w *notebookWriter) cell(c notebookCell) {
	switch c.Type {
	case "markdown":
		text := attachedPicture.ReplaceAllStringFunc(string(c.Source), func(m string) string {
			for _, data := range c.Attachments[attachedPicture.FindStringSubmatch(m)[1]] {
				if name := w.keep(data); name != "" {
					return "(" + name + ")"
				}
			}
			return m
		})
		w.WriteString(strings.TrimSpace(text) + "\n\n")
	case "code":
		if strings.TrimSpace(string(c.Source)) != "" {
			w.WriteString(fenced(string(c.Source), w.lang) + "\n")
		}
		for _, o := range c.Outputs {
			w.output(o)
		}
	case "raw":
		w.WriteString(fenced(string(c.Source), "") + "\n")
	}
}

// mostOutput is how much is kept of what a cell printed.
const mostOutput = 10_000

var terminalCode = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]")

func (w *notebookWriter) output(o notebookOutput) {
	text := string(o.Text)
	if o.Type == "error" {
		text = o.Name + ": " + o.Value
	}
	for _, kind := range []string{"image/png", "image/jpeg"} {
		var data lines
		if json.Unmarshal(o.Data[kind], &data) == nil && data != "" {
			if name := w.keep(string(data)); name != "" {
				fmt.Fprintf(w, "![output](%s)\n\n", name)
				return
			}
		}
	}
	var markdown, plain lines
	if json.Unmarshal(o.Data["text/markdown"], &markdown) == nil && markdown != "" {
		w.WriteString(strings.TrimSpace(string(markdown)) + "\n\n")
		return
	}
	if json.Unmarshal(o.Data["text/plain"], &plain) == nil {
		text += string(plain)
	}
	if text = strings.TrimSpace(terminalCode.ReplaceAllString(text, "")); text == "" {
		return
	}
	if len(text) > mostOutput {
		text = strings.ToValidUTF8(text[:mostOutput], "") + "\n…"
	}
	w.WriteString(fenced(text, "") + "\n")
}

// keep attaches a picture, and returns its name; "" for none.
func (w *notebookWriter) keep(encoded string) string {
	b, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(encoded, "\n", ""))
	name := pictureName(b)
	if err != nil || name == "" || len(b) > maxPicture || w.kept+len(b) > maxPictures {
		w.dropped++
		return ""
	}
	w.attach(name, b)
	return name
}
