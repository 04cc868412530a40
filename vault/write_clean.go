package vault

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"kb/note"
)

// Limits of what a call may bring. They are far above what a note needs.
const (
	mostTitle   = 300 // characters
	mostWord    = 100 // of a tag, a status
	mostTags    = 50
	mostSource  = 2000
	mostMessage = 20_000
	mostKey     = 200
)

// clean checks the words of a call, and returns them in the form in which they
// are used.
func (p WriteParams) clean() (*WriteParams, error) {
	p.Title = strings.Join(strings.Fields(p.Title), " ")
	p.Directory = strings.TrimSuffix(strings.TrimSpace(p.Directory), "/")
	err := firstError(
		checkLine("title", p.Title, mostTitle),
		checkLine("status", p.Status, mostWord),
		checkLine("source", p.Source, mostSource),
		checkLine("directory", p.Directory, mostSource),
		checkLine("filename", p.Filename, mostSource),
		checkBody("body", &p.Body),
		checkTags(&p.Tags),
		cleanCall(&p.Draft, p.Message, p.Key),
	)
	if err != nil {
		return nil, err
	}
	for name, text := range p.Fields {
		if err := checkBody(name, &text); err != nil {
			return nil, err
		}
	}
	if n, _ := note.Parse([]byte(p.Body)); len(n.Fields) > 0 {
		return nil, errorf(Usage, "body begins with frontmatter").hint("give title, tags, status and source as arguments, and the body without")
	}
	switch {
	case p.Template == "" && len(p.Fields) > 0:
		return nil, errorf(Usage, "fields are for a template").hint("template: fix, session, decision, research or the vault's own")
	case p.Template == "" && strings.TrimSpace(p.Body) == "":
		return nil, errorf(Usage, "the note has no text").hint("body is its Markdown, or template makes it of fields")
	case p.Directory != "" && (path.Clean(p.Directory) != p.Directory || !filepath.IsLocal(p.Directory)):
		return nil, errorf(Usage, "directory %q leads out of the collection", clip(p.Directory, 100)).hint("a directory within it, such as guides")
	case strings.ContainsAny(p.Filename, `/\`):
		return nil, errorf(Usage, "filename %q is a path", clip(p.Filename, 100)).hint("directory says where it goes")
	}
	if p.Filename != "" && !strings.HasSuffix(p.Filename, ".md") && !strings.HasSuffix(p.Filename, ".markdown") {
		p.Filename += ".md"
	}
	return &p, nil
}

// cleanCall checks what every writing call has.
func cleanCall(draftName *string, message, key string) error {
	*draftName = strings.TrimPrefix(strings.TrimSpace(*draftName), "drafts/")
	if err := checkText("message", message, mostMessage); err != nil {
		return err
	}
	return firstError(checkLine("draft", *draftName, mostKey), checkLine("key", key, mostKey))
}

// clean checks the words of a call, and returns what it asks for.
func (p *EditParams) clean() (*editKind, error) {
	var asked []*editKind
	var names []string
	for _, k := range editKinds {
		names = append(names, k.name)
		if k.given(p) {
			asked = append(asked, k)
		}
	}
	if len(asked) != 1 {
		what := "nothing to change is given"
		if len(asked) > 1 {
			what = fmt.Sprintf("%s and %s are two changes", asked[0].name, asked[1].name)
		}
		return nil, errorf(Usage, "%s", what).hint("give exactly one of %s; several calls may go into one draft", strings.Join(names, ", "))
	}
	if err := p.checkWords(); err != nil {
		return nil, err
	}
	return asked[0], p.checkPairs(asked[0])
}

func (p *EditParams) checkWords() error {
	p.Reason = strings.Join(strings.Fields(p.Reason), " ")
	for _, text := range []*string{p.ReplaceSection, &p.Append, &p.Prepend, &p.Replace, p.With} {
		if text != nil {
			if err := checkText("text", *text, note.MaxText); err != nil {
				return err
			}
		}
	}
	for key, value := range p.Set {
		if title, ok := value.(string); ok && strings.EqualFold(key, "title") {
			if err := checkLine("title", title, mostTitle); err != nil {
				return err
			}
		}
		if err := checkLine("a key of set", key, mostWord); err != nil || key == "" {
			return errorf(Usage, "set: %q is no name of a property", clip(key, 60))
		}
	}
	return firstError(
		checkLine("path", p.Path, mostSource),
		checkLine("base", p.Base, mostWord),
		checkLine("rename", p.Rename, mostSource),
		checkLine("restore", p.Restore, mostSource),
		checkLine("reason", p.Reason, mostSource),
		cleanCall(&p.Draft, p.Message, p.Key),
	)
}

// checkPairs checks what goes with a change.
func (p *EditParams) checkPairs(op *editKind) error {
	many := len(p.Tag)+len(p.Where) > 0
	switch {
	case op.name == "replace_section" && strings.TrimSpace(p.Heading) == "":
		return errorf(Usage, "replace_section lacks heading").hint("heading: the heading whose text is replaced")
	case op.name != "replace_section" && p.Heading != "":
		return errorf(Usage, "heading is for replace_section").hint("append and prepend are of the whole note")
	case op.name == "replace" && p.With == nil:
		return errorf(Usage, "replace lacks with").hint(`with: the new text; "" removes the old`)
	case op.name != "replace" && p.With != nil:
		return errorf(Usage, "with is for replace").hint("replace: the exact text that it takes the place of")
	case op.name == "flag" && strings.TrimSpace(p.Reason) == "":
		return errorf(Usage, "flag lacks reason").hint("reason: what is wrong with the note")
	case p.Reason != "" && op.name != "flag" && op.name != "confirm":
		return errorf(Usage, "reason is for flag and confirm").hint("message tells the reviewer why")
	case many && p.Path != "":
		return errorf(Usage, "path names one note, tag and where several").hint("give one or the other")
	case many && p.Base != "":
		return errorf(Usage, "base is of one note").hint("give path, or leave base out")
	case many && op.single:
		return errorf(Usage, "%s is of one note", op.name).hint("give path")
	}
	return nil
}

// checkBody checks a text of several lines, and gives it line feeds alone.
func checkBody(name string, text *string) error {
	*text = strings.ReplaceAll(strings.TrimPrefix(*text, "\ufeff"), "\r\n", "\n")
	return checkText(name, *text, note.MaxText)
}

func checkText(name, text string, most int) error {
	switch {
	case len(text) > most:
		return errorf(Usage, "%s has %s bytes: at most %s", name, thousands(len(text)), thousands(most)).hint("a note is one subject: split it")
	case strings.IndexByte(text, 0) >= 0:
		return errorf(Usage, "%s has a NUL byte", name).hint("notes are text")
	case !utf8.ValidString(text):
		return errorf(Usage, "%s is not UTF-8", name)
	}
	return nil
}

// checkLine checks a text that is one line.
func checkLine(name, text string, most int) error {
	if err := checkText(name, text, 1<<20); err != nil || utf8.RuneCountInString(text) > most {
		return errorf(Usage, "%s is too long, or no text: %d characters at most", name, most)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return isHidden(r) || r == '\t' || r == '\n' }) {
		return errorf(Usage, "%s has characters that control or hide text", name).hint("%s is one line of text", name)
	}
	return nil
}

// checkTags checks tags, and removes their '#' and repetitions.
func checkTags(tags *[]string) error {
	var list []string
	for _, t := range *tags {
		t = strings.Join(strings.Fields(strings.TrimLeft(strings.TrimSpace(t), "#")), "-")
		if err := checkLine("a tag", t, mostWord); err != nil {
			return err
		}
		if t != "" {
			list = append(list, t)
		}
	}
	*tags = slices.Clip(joinTags(list))
	if len(*tags) > mostTags {
		return errorf(Usage, "%d tags: at most %d", len(*tags), mostTags)
	}
	return nil
}
