package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"kb/vault"
)

// reviewCommands are those of kb review that are no operation alone.
type reviewCommands struct {
	Edit  reviewEditCmd `cmd:"" help:"Edit the notes of a draft, and decide its conflicts."`
	Alone reviewCmd     `cmd:"" hidden:"" default:"1"`
}

// reviewCmd is kb review with no command after it.
type reviewCmd struct{}

// Run shows the screen, or where there can be none lists the drafts.
func (reviewCmd) Run(c *cli) error {
	if c.hasScreen() {
		return c.reviewScreen()
	}
	return c.runOp(c.ops["review list"])
}

type reviewEditCmd struct {
	Name    string   `arg:"" help:"Draft."`
	Only    []string `help:"Only these notes, or directories; may be repeated." sep:"none" placeholder:"PATH"`
	From    string   `help:"Take the files of this directory, which an earlier call left, instead of opening an editor." placeholder:"DIR"`
	Message string   `help:"What was changed, and why." placeholder:"TEXT"`
}

// Run opens the files of a draft in the user's editor, in a directory of their
// own, and commits what became of them on the draft. When that fails, nothing
// that was written is lost: the directory stays.
func (e reviewEditCmd) Run(c *cli) (err error) {
	s, err := c.service(vault.Person)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	desk := editDesk{cli: c, service: s, cmd: e}
	if e.From != "" {
		return desk.save(e.From)
	}
	return desk.edit()
}

// editDesk is a draft that is being edited.
type editDesk struct {
	*cli
	service *vault.Service
	cmd     reviewEditCmd
}

// stateFile says, in the directory, what the files were made of.
const stateFile = ".kb-review.json"

func (d *editDesk) edit() error {
	r, err := d.call(map[string]any{"name": d.cmd.Name, "only": d.cmd.Only})
	if err != nil {
		return err
	}
	if len(r.Files) == 0 {
		return &vault.Error{Code: vault.NotFound, Message: "the draft has no text to edit"}
	}
	dir, err := os.MkdirTemp("", "kb-review-")
	if err != nil {
		return err
	}
	for _, x := range r.Conflicts {
		fmt.Fprintf(d.err, "kb: to be decided: %s: %s\n", x.Path, x.Message)
	}
	names, err := writeFiles(dir, r)
	if err == nil {
		err = d.openEditor(names)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	return d.save(dir)
}

// writeFiles puts the files below dir, at their paths in the repository, and
// returns their names: of the ones in conflict if there are some, else of all.
func writeFiles(dir string, r *vault.ReviewEdited) (names []string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	state, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if err := root.WriteFile(stateFile, state, 0o600); err != nil {
		return nil, err
	}
	conflicts := slices.ContainsFunc(r.Files, func(f vault.EditedFile) bool { return f.Conflict })
	for _, f := range r.Files {
		if err := root.MkdirAll(filepath.Dir(filepath.FromSlash(f.Path)), 0o700); err != nil {
			return nil, err
		}
		if err := root.WriteFile(filepath.FromSlash(f.Path), []byte(f.Text), 0o600); err != nil {
			return nil, err
		}
		if f.Conflict || !conflicts {
			names = append(names, filepath.Join(dir, filepath.FromSlash(f.Path)))
		}
	}
	return names, nil
}

// openEditor runs the user's editor, as git finds it, on files.
func (d *editDesk) openEditor(names []string) error {
	editor := ""
	for _, name := range []string{"GIT_EDITOR", "VISUAL", "EDITOR"} {
		if set := os.Getenv(name); set != "" {
			editor = set
			break
		}
	}
	if editor == "" {
		if !isTerminal(d.in) {
			return &vault.Error{Code: vault.Usage, Message: "there is no terminal for an editor", Hint: "EDITOR=COMMAND kb review edit " + d.cmd.Name + " runs one that needs none"}
		}
		editor = "vi"
	}
	cmd := exec.CommandContext(d.ctx, "sh", append([]string{"-c", editor + ` "$@"`, editor}, names...)...)
	if runtime.GOOS == "windows" {
		words := append(strings.Fields(editor), names...)
		cmd = exec.CommandContext(d.ctx, words[0], words[1:]...)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = d.in, d.err, d.err
	if err := cmd.Run(); err != nil {
		return &vault.Error{Code: vault.Internal, Message: fmt.Sprintf("editor %s: %v", editor, err), Hint: "$VISUAL or $EDITOR names the editor"}
	}
	return nil
}

// save commits the files of a directory, and removes it when they are.
func (d *editDesk) save(dir string) error {
	was, now, err := readFiles(dir)
	if err != nil {
		return err
	}
	if was.Base == "" && slices.Equal(was.Files, now) {
		fmt.Fprintln(d.err, "kb: nothing was changed")
		return os.RemoveAll(dir)
	}
	r, err := d.call(map[string]any{"name": d.cmd.Name, "commit": was.Commit, "base": was.Base, "files": now, "message": d.cmd.Message})
	if err != nil {
		e := *vault.AsError(err)
		e.Hint = strings.TrimPrefix(e.Hint+"; ", "; ") + fmt.Sprintf("the files are in %s: kb review edit %s --from %s", dir, d.cmd.Name, dir)
		return &e
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return d.print(d.service.Config(), r)
}

// readFiles returns what the files of a directory were made of, and what they are.
func readFiles(dir string) (was *vault.ReviewEdited, now []vault.EditedFile, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, &vault.Error{Code: vault.NotFound, Message: err.Error()}
	}
	defer root.Close()
	raw, err := root.ReadFile(stateFile)
	if err == nil {
		err = json.Unmarshal(raw, &was)
	}
	if err != nil {
		return nil, nil, &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("%s is no directory that kb review edit left: %v", dir, err)}
	}
	for _, f := range was.Files {
		text, err := root.ReadFile(filepath.FromSlash(f.Path))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			now = append(now, vault.EditedFile{Path: f.Path, Delete: true})
		case err != nil:
			return nil, nil, err
		default:
			same := f
			same.Text = string(text)
			now = append(now, same)
		}
	}
	return was, now, nil
}

func (d *editDesk) call(args map[string]any) (*vault.ReviewEdited, error) {
	raw, err := json.Marshal(args)
	if err != nil {
		return nil, err
	}
	op, _ := vault.FindOp("review_edit")
	r, err := d.service.Do(d.ctx, op, raw, nil)
	if err != nil {
		return nil, err
	}
	return r.(*vault.ReviewEdited), nil
}
