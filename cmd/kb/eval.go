package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"kb/vault"
)

type evalCmd struct {
	Dir       string  `arg:"" optional:"" help:"Collection: corpus.jsonl, queries.jsonl and qrels.tsv, or .gz of these."`
	Queries   string  `help:"Evaluate the current vault instead, with the queries.jsonl and qrels.tsv of this directory; the qrels name paths." placeholder:"DIR"`
	Language  string  `help:"Language of the collection." default:"en" placeholder:"CODE"`
	Mode      string  `help:"What to measure: text, vector, hybrid, or several: text,hybrid (default: text, or what the baseline has)."`
	Model     string  `help:"Embedding model: the name of an installed one, or a directory." placeholder:"MODEL"`
	At        string  `help:"View of the current vault." placeholder:"REV"`
	Compare   string  `help:"Compare two settings query by query: text,hybrid or main,drafts/x or weight=0.1,weight=0.3." placeholder:"A,B"`
	Limit     int     `help:"How many queries to name that lost the most, and that won." default:"5" placeholder:"N"`
	PerQuery  bool    `help:"Also give nDCG@10 of each query, in JSON."`
	Save      string  `help:"Write the means and the scores of each query to a file." placeholder:"FILE"`
	Baseline  string  `help:"Compare with a file of --save; exit 6 when a mode falls by more than the tolerance." placeholder:"FILE"`
	Tolerance float64 `help:"How much lower nDCG@10 may be than in the baseline." default:"0.005" placeholder:"X"`
}

func (e evalCmd) Run(c *cli) error {
	if err := e.check(); err != nil {
		return err
	}
	if e.Compare != "" {
		return e.compare(c)
	}
	var baseline *vault.EvalBaseline
	if e.Baseline != "" {
		var err error
		if baseline, err = vault.ReadBaseline(e.Baseline); err != nil {
			return err // before anything is measured
		}
	}
	r, err := e.measure(c, e.setting(baseline), e.PerQuery || e.Save != "" || baseline != nil)
	if err != nil {
		return err
	}
	return e.report(c, r, baseline)
}

// setting is what the flags say, and else the baseline.
func (e evalCmd) setting(b *vault.EvalBaseline) evalSetting {
	s := evalSetting{mode: e.Mode, model: e.Model, at: e.At}
	switch {
	case s.mode == "" && b != nil:
		s.mode = b.Modes()
	case s.mode == "":
		s.mode = "text"
	}
	return s
}

// report compares with the baseline, saves and prints.
func (e evalCmd) report(c *cli, r *vault.EvalResult, b *vault.EvalBaseline) error {
	var gate *vault.EvalGate
	if b != nil {
		var err error
		if gate, err = b.Check(r, e.Tolerance, e.Limit); err != nil {
			return err
		}
	}
	if e.Save != "" {
		if err := r.Save(e.Save); err != nil {
			return err
		}
	}
	if !e.PerQuery {
		r.PerQuery = nil
	}
	if gate == nil {
		return c.conclude(nil, r)
	}
	gate.PerQuery = r.PerQuery
	return c.conclude(nil, gate)
}

var errNoRevisions = &vault.Error{Code: vault.Usage, Message: "a collection has no revisions", Hint: "--queries DIR asks the vault, which has"}

// check reports flags that do not go together.
func (e evalCmd) check() error {
	usage := func(message, hint string) error {
		return &vault.Error{Code: vault.Usage, Message: message, Hint: hint}
	}
	switch {
	case (e.Dir == "") == (e.Queries == ""):
		return usage("eval needs one collection", "kb eval DIR, or kb eval --queries DIR for the current vault")
	case e.Dir != "" && e.At != "":
		return errNoRevisions
	case e.Compare != "" && strings.Contains(e.Mode, ","):
		return usage("--compare takes one mode for what its settings leave out", "--compare text,hybrid")
	case e.Compare != "" && e.Save+e.Baseline != "":
		return usage("--compare measures two settings, --save and --baseline one", "kb eval --baseline FILE names what lost since")
	case !(e.Tolerance >= 0 && e.Tolerance <= 1):
		return usage(fmt.Sprintf("--tolerance %v", e.Tolerance), "nDCG@10 is from 0 to 1")
	case e.Limit < 0:
		return usage("--limit is negative", "--limit 0 names no query")
	}
	return nil
}

// compare measures two settings.
func (e evalCmd) compare(c *cli) error {
	pair, err := parseSettings(e.Compare, e.setting(nil), e.isModel(c))
	if err != nil {
		return err
	}
	var results [2]*vault.EvalResult
	for i, s := range pair {
		if s.at != "" && e.Dir != "" {
			return errNoRevisions
		}
		if results[i], err = e.measure(c, s, true); err != nil {
			return err
		}
	}
	r, err := vault.CompareEval(results[0], results[1], [2]string{pair[0].text, pair[1].text}, e.Limit)
	if err != nil {
		return err
	}
	return c.conclude(nil, r)
}

// isModel returns what tells a model from a revision. A collection has no
// revisions, and none begins as a path does.
func (e evalCmd) isModel(c *cli) func(string) bool {
	return func(word string) bool {
		if e.Dir != "" || strings.ContainsAny(word[:1], "./~") {
			return true
		}
		store, _, err := c.modelStore()
		if err == nil {
			_, err = store.Get(word)
		}
		return err == nil
	}
}

// measure runs the queries of one setting.
func (e evalCmd) measure(c *cli, s evalSetting, perQuery bool) (r *vault.EvalResult, err error) {
	cfg, dir, err := e.vault(c, s)
	if err != nil {
		return nil, err
	}
	for key, value := range s.config {
		if err := cfg.Override(key, value); err != nil {
			return nil, err
		}
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	args, err := json.Marshal(map[string]any{"queries": dir, "corpus": e.Dir != "", "mode": s.mode, "at": s.at, "per_query": perQuery})
	if err != nil {
		return nil, err
	}
	service, err := vault.NewService(cfg, vault.Person, c.log)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, service.Close()) }()
	op, _ := vault.FindOp("kb_eval")
	result, err := c.result(service, op, args)
	if err != nil {
		return nil, err
	}
	return result.(*vault.EvalResult), nil
}

// vault is what the queries are asked of, and the directory that holds them.
func (e evalCmd) vault(c *cli, s evalSetting) (*vault.Config, string, error) {
	if e.Dir != "" {
		cacheDir, err := vault.CacheDir(c.flags.CacheDir)
		if err != nil {
			return nil, "", err
		}
		cfg, err := vault.CorpusVault(c.ctx, e.Dir, cacheDir, e.Language, s.model)
		return cfg, e.Dir, err
	}
	cfg, err := vault.LoadConfig(c.locate())
	if err == nil && s.model != "" {
		err = cfg.UseModel(s.model)
	}
	return cfg, e.Queries, err
}
