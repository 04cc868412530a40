package vault

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"kb/gitstore"
	"kb/note"
)

// promptDir is where a vault keeps prompts of its own, below the root of a
// repository or a collection. No draft may touch it.
const promptDir = ".kb/prompts"

// Bounds of a vault's own prompts.
const (
	mostPrompts     = 50
	mostPromptBytes = 32 << 10
	mostPromptArgs  = 16
	mostPromptAbout = 300 // characters
)

// BuiltinPrompts are the names of the prompts that every vault has; none of its own
// may have one of these.
var BuiltinPrompts = []string{"capture_fix", "capture_session", "challenge", "emerge", "prune", "reconcile", "research", "review_draft"}

// Prompt is a prompt of the vault's own: a text with {{argument}} in it.
type Prompt struct {
	Name        string           `json:"name"` // of the file
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description"`
	Arguments   []PromptArgument `json:"arguments"`
	Text        string           `json:"text"`
	Path        string           `json:"path"` // in its repository
}

// PromptArgument is a text that a prompt is given.
type PromptArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Required    bool   `json:"required,omitempty"`
}

// RefusedPrompt is a file that is no prompt, and why.
type RefusedPrompt struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Prompts is the vault's own prompts, as committed to the branch that drafts start
// from.
type Prompts struct {
	Prompts []Prompt        `json:"prompts"` // by name
	Refused []RefusedPrompt `json:"refused"`
}

// PromptsParams asks for the vault's own prompts.
type PromptsParams struct{}

var promptsOp = define(Op{
	Name:     "kb_prompts",
	Summary:  "List the vault's own prompts",
	Examples: []string{"kb prompts"},
	People:   true,
}, (*Vault).Prompts)

// Prompts reads the vault's own prompts that the caller sees. It reads neither
// notes nor derived data.
func (v *Vault) Prompts(ctx context.Context, _ PromptsParams) (*Prompts, error) {
	r := &Prompts{Prompts: []Prompt{}, Refused: []RefusedPrompt{}}
	read := map[string]bool{} // by repository and directory
	for _, c := range v.cols {
		for _, dir := range []string{promptDir, path.Join(c.dir, promptDir)} {
			if key := c.repo.GitDir() + "\n" + dir; !read[key] {
				read[key] = true
				if err := v.addPrompts(ctx, r, c, dir); err != nil {
					return nil, err
				}
			}
		}
	}
	slices.SortFunc(r.Prompts, func(a, b Prompt) int { return strings.Compare(a.Name, b.Name) })
	return r, nil
}

// addPrompts reads the prompts of one directory of c's repository.
func (v *Vault) addPrompts(ctx context.Context, r *Prompts, c *collection, dir string) error {
	_, tip, err := v.draftBase(c.repo)
	if err != nil { // an unborn branch, a draft, no branch: there are none
		return nil
	}
	files, _, err := c.repo.Files(ctx, tip, dir)
	if err != nil {
		return errorf(Internal, "list prompts: %w", err)
	}
	for _, f := range files {
		at := path.Join(dir, f.Path)
		p := Prompt{Path: at}
		err := r.admit(f)
		if err == nil {
			var seen bool
			if seen, err = v.readPrompt(&p, c, f.Blob); err == nil && !seen {
				continue
			}
		}
		if err != nil {
			if v.promptPathSeen(c, at) {
				r.refuse(at, err.Error())
			}
			continue
		}
		r.Prompts = append(r.Prompts, p)
	}
	return nil
}

// admit refuses a file for its name, its size, or the number of those before.
func (r *Prompts) admit(f gitstore.File) error {
	name, markdown := strings.CutSuffix(f.Path, ".md")
	switch {
	case !markdown || !templateName.MatchString(name):
		return errors.New("a prompt's file is named by small letters, digits, - and _, and ends in .md")
	case slices.Contains(BuiltinPrompts, name):
		return fmt.Errorf("%s is a prompt that kb has itself: take another name", name)
	case slices.ContainsFunc(r.Prompts, func(p Prompt) bool { return p.Name == name }):
		return fmt.Errorf("another prompt has the name %s", name)
	case f.Size > mostPromptBytes:
		return fmt.Errorf("it is longer than %d KB", mostPromptBytes>>10)
	case len(r.Prompts) >= mostPrompts:
		return fmt.Errorf("there are %d prompts already", mostPrompts)
	}
	return nil
}

func (r *Prompts) refuse(at, why string) {
	const most = 100
	if len(r.Refused) < most {
		r.Refused = append(r.Refused, RefusedPrompt{oneLine(visible(at), 200), oneLine(visible(why), 300)})
	}
}

// readPrompt reads the prompt of a file, unless the caller does not see it.
func (v *Vault) readPrompt(p *Prompt, c *collection, blob note.ID) (seen bool, err error) {
	src, err := c.repo.Blob(blob)
	if err != nil {
		return false, err
	}
	if len(src) > mostPromptBytes {
		return false, fmt.Errorf("it is longer than %d KB", mostPromptBytes>>10)
	}
	at, inside := c.within(p.Path)
	if !inside {
		at = p.Path
	}
	if !v.paths().claimed(c, at, readClaim(src)) {
		return false, nil
	}
	return true, p.parse(src)
}

// promptPathSeen reports whether the caller may learn that there is a file.
func (v *Vault) promptPathSeen(c *collection, full string) bool {
	at, inside := c.within(full)
	if !inside {
		at = full
	}
	return v.paths().file(c, at)
}

var promptArgName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,63}$`)

// parse reads what a prompt's file says.
func (p *Prompt) parse(src []byte) error {
	n, text := note.Parse(src)
	if n.Binary || !utf8.Valid(src) {
		return errors.New("it is no UTF-8 text")
	}
	for _, problem := range n.Problems {
		if problem.Code == "malformed_frontmatter" || problem.Code == "duplicate_key" {
			return fmt.Errorf("line %d: %s", problem.Line, problem.Message)
		}
	}
	p.Name = fileTitle(p.Path)
	p.Title = oneLine(visible(n.String("title")), mostPromptAbout)
	p.Description = oneLine(visible(n.String("description")), mostPromptAbout)
	p.Text = strings.TrimSpace(visible(string(text[n.Body:])))
	p.Arguments = []PromptArgument{}
	if p.Text == "" {
		return errors.New("it has no text")
	}
	given, _ := n.Field("arguments")
	if given == nil {
		return nil
	}
	list, ok := given.([]any)
	if !ok || len(list) > mostPromptArgs {
		return fmt.Errorf("arguments is no list of at most %d", mostPromptArgs)
	}
	for _, item := range list {
		if err := p.addArgument(item); err != nil {
			return err
		}
	}
	return nil
}

// addArgument reads one of the arguments: its name, or a mapping.
func (p *Prompt) addArgument(item any) error {
	m, ok := item.(map[string]any)
	if !ok {
		m = map[string]any{"name": item}
	}
	name, _ := m["name"].(string)
	about, _ := m["description"].(string)
	required, isBool := m["required"].(bool)
	switch {
	case !promptArgName.MatchString(name):
		return fmt.Errorf("an argument has the name %q: letters, digits, - and _", clip(name, 60))
	case slices.ContainsFunc(p.Arguments, func(a PromptArgument) bool { return a.Name == name }):
		return fmt.Errorf("two arguments have the name %s", name)
	case m["required"] != nil && !isBool:
		return fmt.Errorf("required of the argument %s is neither true nor false", name)
	}
	p.Arguments = append(p.Arguments, PromptArgument{name, oneLine(visible(about), mostPromptAbout), required})
	return nil
}

var promptSlot = regexp.MustCompile(`\{\{\s*([A-Za-z][A-Za-z0-9_-]*)\s*\}\}`)

// Fill is the prompt's text with what is given for its arguments, which is never
// read for such names. What is in braces and no argument stays as it stands.
func (p *Prompt) Fill(given map[string]string) (string, error) {
	known := map[string]bool{}
	for _, a := range p.Arguments {
		known[a.Name] = true
		if a.Required && strings.TrimSpace(given[a.Name]) == "" {
			return "", errorf(Usage, "prompt %s: argument %s is missing", p.Name, a.Name).hint("%s", a.Description)
		}
	}
	return promptSlot.ReplaceAllStringFunc(p.Text, func(slot string) string {
		name := promptSlot.FindStringSubmatch(slot)[1]
		if !known[name] {
			return slot
		}
		return strings.TrimSpace(given[name])
	}), nil
}

// Text lists the prompts with their arguments.
func (r *Prompts) Text(t *Text) {
	for _, p := range r.Prompts {
		var args []string
		for _, a := range p.Arguments {
			if a.Required {
				args = append(args, a.Name)
			} else {
				args = append(args, "["+a.Name+"]")
			}
		}
		t.Printf("%s %s\n", t.Strong(p.Name), t.Dim(strings.Join(args, " ")))
		t.Wrap("  ", t.Plain(p.Description))
	}
	if len(r.Prompts) == 0 {
		t.Printf("no prompts in %s\n", promptDir)
	}
	for _, x := range r.Refused {
		t.Hang("", "  ", t.Warn(x.Path+" is no prompt: "+x.Why))
	}
}

// doctorPrompts names the files that are no prompts.
func (v *Vault) doctorPrompts(ctx context.Context, f *Findings) {
	r, err := v.Prompts(ctx, PromptsParams{})
	if err != nil {
		f.bad("prompts", AsError(err).Hint, "%s", err)
		return
	}
	for _, x := range r.Refused {
		f.info("prompt_refused", "mend, rename or remove it, and commit", "%s is no prompt: %s", x.Path, x.Why)
	}
}
