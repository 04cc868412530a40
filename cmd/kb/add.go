package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"kb/ingest"
	"kb/internal/fetch"
	"kb/vault"
)

type addCmd struct {
	Sources      []string `arg:"" help:"Files, directories, URLs; - is standard input."`
	Recursive    bool     `help:"Also what is below directories." short:"r"`
	Ext          []string `help:"Only files of directories that end so: pdf,html." placeholder:"EXT"`
	Collection   string   `help:"Needed when several are writable." placeholder:"NAME"`
	Directory    string   `help:"Where the notes go, within the collection." placeholder:"DIR"`
	Tags         []string `help:"Tags of the new notes." aliases:"tag" placeholder:"TAG"`
	Draft        string   `help:"Draft to add to." default:"inbox" placeholder:"NAME"`
	Message      string   `help:"Why, for the reviewer." placeholder:"TEXT"`
	Merge        bool     `help:"Publish at once what was added, if it passes the checks of a review."`
	DryRun       bool     `help:"Show the notes, write nothing."`
	KeepOriginal bool     `help:"Keep the file that a note is made of beside it."`
	AllowPrivate bool     `help:"Fetch from this machine and its network too."`
	Name         string   `help:"File name of what stands on standard input, which tells its type." placeholder:"FILE"`
	Source       string   `help:"Where standard input is from: a URL." placeholder:"URL"`
}

// Run reads and converts in this process, and adds in the one that owns the vault's
// derived data.
func (a addCmd) Run(c *cli) (err error) {
	s, err := c.service(vault.Person)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	home, _ := os.UserHomeDir() // without one, files outside the repository are known by their whole path
	find := ingest.FindOptions{Recursive: a.Recursive, Extensions: a.Ext, Root: s.Config().Repository(a.Collection), Home: home}
	sources, err := ingest.Find(a.Sources, find)
	if err != nil {
		return addError(err)
	}
	if sources, err = a.named(sources); err != nil {
		return err
	}
	bar := c.newProgress()
	adder := a.adder(c, s)
	adder.Report = bar.report
	r, err := adder.Run(c.ctx, sources)
	bar.finish()
	if r == nil {
		return addError(err)
	}
	for _, arg := range a.Sources {
		if abs, err := filepath.Abs(arg); err == nil && a.Recursive {
			r.Missing = append(r.Missing, adder.Gone(abs, find.FileID(abs))...)
		}
	}
	if code := r.ExitCode(); code != "" {
		c.status = code.ExitStatus()
	}
	return errors.Join(err, c.print(s.Config(), r))
}

// adder joins the steps: the web, if it may be asked, and the vault.
func (a addCmd) adder(c *cli, s *vault.Service) *ingest.Adder {
	web := &fetch.Client{UserAgent: "kb/" + vault.Version + " (adds a page that a person named to a knowledge base)", AllowPrivate: a.AllowPrivate, Offline: s.Config().Offline}
	return &ingest.Adder{
		Vault:  &calls{c, s},
		Reader: &ingest.Reader{Web: web, Stdin: c.in},
		Options: ingest.Options{Collection: a.Collection, Directory: a.Directory, Tags: a.Tags, Draft: a.Draft, Message: a.Message,
			DryRun: a.DryRun, Merge: a.Merge, KeepOriginal: a.KeepOriginal},
	}
}

// named gives standard input its name and its source.
func (a addCmd) named(sources []ingest.Source) ([]ingest.Source, error) {
	stdin := 0
	for i := range sources {
		if sources[i].ID != "" {
			continue
		}
		if stdin++; stdin > 1 {
			return nil, &vault.Error{Code: vault.Usage, Message: "- is given twice", Hint: "standard input is read once"}
		}
		sources[i].Name = filepath.Base(a.Name)
		if a.Name == "" {
			sources[i].Name = ""
		}
		if a.Source != "" {
			of, err := ingest.FromURL(a.Source)
			if err != nil {
				return nil, addError(err)
			}
			sources[i].ID = of.ID
		}
	}
	if stdin == 0 && a.Name+a.Source != "" {
		return nil, &vault.Error{Code: vault.Usage, Message: "--name and --source are for standard input", Hint: "kb add - --name page.html < page.html"}
	}
	return sources, nil
}

// addError says which of a call's own words are wrong.
func addError(err error) error {
	var wrong *ingest.ArgumentError
	if errors.As(err, &wrong) {
		return &vault.Error{Code: vault.Usage, Message: wrong.Message, Hint: wrong.Hint}
	}
	if errors.Is(err, ingest.ErrNone) {
		return &vault.Error{Code: vault.NotFound, Message: strings.TrimPrefix(err.Error(), ingest.ErrNone.Error()+": "), Hint: "a file, a directory, an http or https URL, or - for standard input"}
	}
	return err
}

// calls are the operations that adding needs, called where the vault's derived data
// is.
type calls struct {
	c *cli
	s *vault.Service
}

// Sources calls kb_sources.
func (x *calls) Sources(ctx context.Context, p vault.SourcesParams) (*vault.Sources, error) {
	return callOp[vault.Sources](ctx, x, "kb_sources", p)
}

// Add calls kb_add.
func (x *calls) Add(ctx context.Context, p vault.AddParams) (*vault.Added, error) {
	return callOp[vault.Added](ctx, x, "kb_add", p)
}

// Merge calls review_merge.
func (x *calls) Merge(ctx context.Context, p vault.ReviewMergeParams) (*vault.ReviewMerged, error) {
	return callOp[vault.ReviewMerged](ctx, x, "review_merge", p)
}

func callOp[R any](ctx context.Context, x *calls, name string, params any) (*R, error) {
	op, ok := vault.FindOp(name)
	if !ok {
		return nil, fmt.Errorf("no operation %s", name) // unreachable: it is in the table
	}
	args, err := json.Marshal(params)
	if err != nil {
		return nil, err
	}
	r, err := x.s.DoAs(ctx, vault.Caller{Agent: os.Getenv(agentVariable)}, op, args, nil)
	if err != nil {
		return nil, err
	}
	return r.(*R), nil
}
