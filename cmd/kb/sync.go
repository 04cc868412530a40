package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"kb/ingest"
	"kb/internal/fetch"
	"kb/vault"
)

type syncCmd struct {
	OlderThan    string `help:"Sources that were asked longer ago than this: 7d, 12h, 0." default:"7d" placeholder:"TIME"`
	Max          int    `help:"Ask so many sources at most, those first that were asked longest ago." placeholder:"N"`
	Collection   string `help:"Needed when several are writable." placeholder:"NAME"`
	Draft        string `help:"Draft to propose changes on (default: sync- and today's date)." placeholder:"NAME"`
	DryRun       bool   `help:"Ask the sources, write nothing."`
	AllowPrivate bool   `help:"Ask this machine and its network too."`
}

// Run asks the sources in this process, and proposes changes in the one that owns
// the vault's derived data.
func (a syncCmd) Run(c *cli) (err error) {
	age, err := parseAge(a.OlderThan)
	if err != nil {
		return err
	}
	if a.Max < 0 {
		return &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("--max %d", a.Max), Hint: "a number of sources; 0 asks all that are due"}
	}
	s, err := c.service(vault.Person)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.Config().Offline {
		return &vault.Error{Code: vault.Usage, Message: "$KB_OFFLINE is set: no source is asked", Hint: "unset it for this command"}
	}
	checks, err := ingest.OpenChecks(s.SyncFile())
	if err != nil {
		return err
	}
	if a.Draft == "" {
		a.Draft = "sync-" + s.Clock().Format(time.DateOnly)
	}
	web := &fetch.Client{UserAgent: "kb/" + vault.Version + " (refreshes a page that a person added to a knowledge base)", AllowPrivate: a.AllowPrivate, Offline: s.Config().Offline}
	bar := c.newProgress()
	syncer := &ingest.Syncer{
		Vault:       &calls{c, s},
		Reader:      &ingest.Reader{Web: web},
		Checks:      checks,
		Now:         s.Clock,
		SyncOptions: ingest.SyncOptions{Collection: a.Collection, Draft: a.Draft, OlderThan: age, Max: a.Max, DryRun: a.DryRun},
		Report:      bar.report,
	}
	r, err := syncer.Run(c.ctx)
	bar.finish()
	if err != nil {
		return err
	}
	return c.conclude(s.Config(), r)
}

// parseAge reads a time that has passed: days, or what Go's durations say.
func parseAge(s string) (time.Duration, error) {
	const day = 24 * time.Hour
	if m := days.FindStringSubmatch(s); m != nil {
		n, _ := strconv.Atoi(m[1])
		return time.Duration(n) * day, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("older-than: %q", s), Hint: "7d, 12h, or 0 for all"}
	}
	return d, nil
}

// Drafts calls kb_drafts.
func (x *calls) Drafts(ctx context.Context, p vault.DraftsParams) (*vault.DraftsResult, error) {
	return callOp[vault.DraftsResult](ctx, x, "kb_drafts", p)
}
