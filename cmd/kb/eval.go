package main

import (
	"encoding/json"
	"errors"
	"path/filepath"

	"kb/vault"
)

type evalCmd struct {
	Dir      string `arg:"" optional:"" help:"Collection: corpus.jsonl, queries.jsonl and qrels.tsv, or .gz of these."`
	Queries  string `help:"Evaluate the current vault instead, with the queries.jsonl and qrels.tsv of this directory; the qrels name paths." placeholder:"DIR"`
	Language string `help:"Language of the collection." default:"en" placeholder:"CODE"`
	Mode     string `help:"What to measure: text, vector, hybrid, or several: text,hybrid." default:"text"`
	Model    string `help:"Embedding model: the name of an installed one, or a directory." placeholder:"MODEL"`
	At       string `help:"View of the current vault." placeholder:"REV"`
}

func (e evalCmd) Run(c *cli) (err error) {
	args := map[string]any{"queries": e.Queries, "mode": e.Mode}
	var cfg *vault.Config
	switch {
	case e.Dir != "" && e.Queries == "":
		args["queries"], args["corpus"] = e.Dir, true
		cacheDir, err := vault.CacheDir(c.flags.CacheDir)
		if err != nil {
			return err
		}
		if cfg, err = vault.CorpusVault(c.ctx, e.Dir, cacheDir, e.Language, e.Model); err != nil {
			return err
		}
	case e.Queries != "" && e.Dir == "":
		args["at"] = e.At
		cfg, err = vault.LoadConfig(c.locate())
		if err != nil {
			return err
		}
		if e.Model != "" {
			if err := cfg.UseModel(e.Model); err != nil {
				return err
			}
		}
	default:
		return &vault.Error{Code: vault.Usage, Message: "eval needs one collection", Hint: "kb eval DIR, or kb eval --queries DIR for the current vault"}
	}
	if args["queries"], err = filepath.Abs(args["queries"].(string)); err != nil {
		return err
	}
	s, err := vault.NewService(cfg, vault.Person, c.log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	op, _ := vault.FindOp("kb_eval")
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	return c.do(s, op, raw)
}
