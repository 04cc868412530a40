package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"kb/internal/models"
	"kb/vault"
)

// modelCmd is a person's business with embedding models: files below the cache
// directory, of which a vault knows nothing but the name.
type modelCmd struct {
	List   modelListCmd   `cmd:"" help:"List the models that kb knows and those that are installed."`
	Pull   modelPullCmd   `cmd:"" help:"Install a model: download it, or take it from a file or directory."`
	Verify modelVerifyCmd `cmd:"" help:"Check the files of an installed model, and what runs it."`
	Rm     modelRmCmd     `cmd:"" help:"Remove an installed model."`
}

// modelStore opens the directory of models, and returns the configured one.
func (c *cli) modelStore() (*models.Store, string, error) {
	dir, configured, err := vault.ModelsDir(c.locate())
	return &models.Store{Dir: dir}, configured, err
}

// withProgress shows on a terminal how far the store is.
func (c *cli) withProgress(s *models.Store, work func() error) error {
	bar := c.newProgress()
	s.Progress = func(done, total int64, what string) { bar.report(int(done>>10), int(total>>10), what+" (kB)") }
	err := work()
	bar.finish()
	return modelError(err)
}

// modelError says what would be right.
func modelError(err error) error {
	if err == nil {
		return nil
	}
	e := &vault.Error{Code: vault.Internal, Message: err.Error()}
	switch {
	case errors.Is(err, models.ErrUnknown):
		e.Code, e.Hint = vault.NotFound, "kb model list shows what there is; kb model pull takes one of "+models.KnownNames()+", or a file or directory"
	case errors.Is(err, models.ErrName), errors.Is(err, models.ErrArchive):
		e.Code, e.Hint = vault.Usage, "kb help model pull"
	case errors.Is(err, models.ErrBusy):
		e.Code, e.Hint = vault.Busy, "another kb model works on it: try again when it is done"
	case errors.Is(err, models.ErrHash):
		e.Code, e.Hint = vault.Failed, "somebody on the way may have changed it: try another network or HF_ENDPOINT"
	case errors.Is(err, models.ErrLogin):
		e.Code, e.Hint = vault.Forbidden, "kb does not log in: download the files with a browser, then kb model pull DIRECTORY"
	case errors.Is(err, models.ErrMissing):
		e.Code, e.Hint = vault.NotFound, "is HF_ENDPOINT a hub? download the files by other means, then kb model pull DIRECTORY"
	case errors.Is(err, models.ErrHub):
		e.Hint = "kb model pull goes on where it stopped; or set HF_ENDPOINT to a mirror, or take a file: kb model pull FILE"
	case errors.Is(err, syscall.ENOSPC):
		e.Hint = "make room, or set cache_dir to another disk; kb model pull goes on where it stopped"
	case errors.Is(err, fs.ErrNotExist):
		e.Code = vault.NotFound
	default:
		return err
	}
	return e
}

type modelListCmd struct{}

// Run prints known and installed models.
func (modelListCmd) Run(c *cli) error {
	s, configured, err := c.modelStore()
	if err != nil {
		return err
	}
	all, err := s.Catalog(configured)
	if err != nil {
		return err
	}
	return c.print(nil, &modelList{Model: configured, Dir: s.Dir, Models: all})
}

type modelList struct {
	Model  string         `json:"model"`
	Dir    string         `json:"dir"`
	Models []models.Entry `json:"models"`
}

// Text implements [vault.Texter].
func (l *modelList) Text(t *vault.Text) {
	for _, m := range l.Models {
		state := ""
		switch {
		case m.Installed && m.InUse:
			state = "in use"
		case m.Installed:
			state = "installed"
		case m.InUse:
			state = "configured, not installed"
		case m.Default:
			state = "default"
		}
		t.Printf("%s  %s\n", t.Accent(m.Name), t.Strong(state))
		facts := slices.DeleteFunc([]string{dimensions(m.Dim), sizeText(m.Size), m.Speed, m.Languages, m.Licence, m.About}, func(s string) bool { return s == "" })
		t.Wrap("  ", t.Dim(strings.Join(facts, " · ")))
	}
	if strings.ContainsAny(l.Model, `/\`) {
		t.Printf("in use: %s\n", t.Plain(l.Model))
	}
}

func dimensions(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n) + " dimensions"
}

func sizeText(n int64) string {
	switch {
	case n == 0:
		return ""
	case n < 10e6:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.0f MB", float64(n)/1e6)
}

type modelPullCmd struct {
	Model string `arg:"" help:"Name of a known model, or a directory or archive (tar, tar.gz, zip) with the files of one."`
	Name  string `help:"Name to install it under, when it comes from a file." placeholder:"NAME"`
}

// Run installs a model.
func (p modelPullCmd) Run(c *cli) error {
	s, _, err := c.modelStore()
	if err != nil {
		return err
	}
	result := &modelPulled{Dir: s.Dir}
	err = c.withProgress(s, func() error {
		if models.Known(p.Model) {
			hub, err := p.hub()
			if err != nil {
				return err
			}
			result.Report, result.Already, err = s.PullNamed(c.ctx, hub, p.Model)
			return err
		}
		if _, err := os.Stat(p.Model); err != nil {
			return fmt.Errorf("pull %s: %w, and no such file", p.Model, models.ErrUnknown)
		}
		name := p.Name
		if name == "" {
			name = models.NameOf(p.Model)
		}
		result.Report, err = s.Import(c.ctx, name, p.Model)
		return err
	})
	if err != nil {
		return err
	}
	result.Dir = filepath.Join(s.Dir, result.Name)
	return c.print(nil, result)
}

// hub is where the environment says that models are downloaded from.
func (p modelPullCmd) hub() (*models.Hub, error) {
	switch {
	case p.Name != "":
		return nil, &vault.Error{Code: vault.Usage, Message: "--name is for files; " + p.Model + " has its own", Hint: "./" + p.Model + " means a directory of that name"}
	case offline():
		return nil, &vault.Error{Code: vault.Forbidden, Message: "KB_OFFLINE is set: nothing is downloaded", Hint: "kb model pull FILE installs a model from a file or directory"}
	}
	hub, err := models.NewHub(os.Getenv("HF_ENDPOINT"))
	if err != nil {
		return nil, &vault.Error{Code: vault.Usage, Message: err.Error(), Hint: "unset HF_ENDPOINT"}
	}
	return hub, nil
}

// offline reports whether kb must not open a connection even when told to.
func offline() bool {
	on, err := strconv.ParseBool(os.Getenv("KB_OFFLINE"))
	return on || err != nil && os.Getenv("KB_OFFLINE") != ""
}

type modelPulled struct {
	*models.Report
	Dir     string `json:"dir"`
	Already bool   `json:"already,omitempty"`
}

// Text implements [vault.Texter].
func (r *modelPulled) Text(t *vault.Text) {
	done := "installed"
	if r.Already {
		done = "was installed already"
	}
	t.Printf("%s %s: %d dimensions, engine %s\n", t.Accent(r.Name), done, r.Dim, r.Engine)
	if r.Notice != "" {
		t.Printf("%s\n", t.Warn(r.Notice))
	}
}

type modelVerifyCmd struct {
	Model string `arg:"" help:"Name of an installed model."`
}

// Run checks an installed model.
func (v modelVerifyCmd) Run(c *cli) error {
	s, _, err := c.modelStore()
	if err != nil {
		return err
	}
	var r *models.Report
	err = c.withProgress(s, func() error {
		r, err = s.Verify(c.ctx, v.Model)
		return err
	})
	if err != nil {
		return err
	}
	if !r.OK {
		c.status = vault.Failed.ExitStatus()
	}
	return c.print(nil, (*modelVerified)(r))
}

type modelVerified models.Report

// Text implements [vault.Texter].
func (r *modelVerified) Text(t *vault.Text) {
	for _, f := range r.Files {
		if f.OK {
			t.Printf("ok %s\n", t.Plain(f.Path))
		} else {
			t.Printf("%s %s: %s\n", t.Warn("bad"), t.Plain(f.Path), t.Plain(f.Message))
		}
	}
	if r.Engine != "" {
		t.Printf("engine %s, %d dimensions", r.Engine, r.Dim)
		if r.Cosine != 0 {
			t.Printf(", agrees with hugot to %.7f", r.Cosine)
		}
		t.Printf("\n")
	}
	if r.Notice != "" {
		t.Printf("%s\n", t.Warn(r.Notice))
	}
	if !r.OK {
		t.Printf("kb model rm %s, then kb model pull, installs it anew\n", t.Plain(r.Name))
	}
}

type modelRmCmd struct {
	Model string `arg:"" help:"Name of an installed model."`
}

// Run removes an installed model.
func (r modelRmCmd) Run(c *cli) error {
	s, configured, err := c.modelStore()
	if err != nil {
		return err
	}
	if err := modelError(s.Remove(r.Model)); err != nil {
		return err
	}
	return c.print(nil, &modelRemoved{r.Model, r.Model == configured})
}

type modelRemoved struct {
	Removed string `json:"removed"`
	InUse   bool   `json:"in_use"`
}

// Text implements [vault.Texter].
func (r *modelRemoved) Text(t *vault.Text) {
	t.Printf("removed %s\n", t.Plain(r.Removed))
	if r.InUse {
		t.Printf("the configuration names it: searches are by words now\n")
	}
}
