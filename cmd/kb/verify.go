package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"

	"kb/vault"
)

type verifyCmd struct {
	File string `arg:"" help:"Text to check; - is standard input."`
	At   string `help:"View that citations without a commit mean."`
}

func (v verifyCmd) Run(c *cli) (err error) {
	var text []byte
	if v.File == "-" {
		text, err = io.ReadAll(c.in)
	} else {
		text, err = os.ReadFile(v.File)
	}
	if err != nil {
		return &vault.Error{Code: vault.NotFound, Message: vault.AsError(err).Message, Hint: "a file with the text to check, or - for standard input"}
	}
	s, err := c.service(vault.Person)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	args, err := json.Marshal(map[string]string{"text": string(text), "at": v.At})
	if err != nil {
		return err
	}
	op, _ := vault.FindOp("kb_verify")
	return c.do(s, op, args)
}
