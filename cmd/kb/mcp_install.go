package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"kb/internal/diff"
	"kb/vault"
)

// client is a program that starts MCP servers, and where it reads which.
type client struct {
	name string
	// file is its configuration, below the current directory where a project has
	// one of its own, else the user's.
	file func() (string, error)
	key  string // of the JSON object of servers; "" for TOML
	more map[string]any
}

var clients = []client{
	{name: "claude-code", file: inProject(".mcp.json"), key: "mcpServers"},
	{name: "claude-desktop", file: claudeDesktop, key: "mcpServers"},
	{name: "cursor", file: inProject(".cursor/mcp.json"), key: "mcpServers"},
	{name: "vscode", file: inProject(".vscode/mcp.json"), key: "servers", more: map[string]any{"type": "stdio"}},
	{name: "codex", file: inHome(".codex/config.toml")},
}

func inProject(name string) func() (string, error) {
	return func() (string, error) { return filepath.FromSlash(name), nil }
}

func inHome(name string) func() (string, error) {
	return func() (string, error) {
		home, err := os.UserHomeDir()
		return filepath.Join(home, filepath.FromSlash(name)), err
	}
}

func claudeDesktop() (string, error) {
	dir, err := os.UserConfigDir() // the system's own place on macOS and Windows, too
	return filepath.Join(dir, "Claude", "claude_desktop_config.json"), err
}

func clientNames() (names []string) {
	for _, x := range clients {
		names = append(names, x.name)
	}
	return names
}

func findClient(name string) (client, error) {
	for _, x := range clients {
		if x.name == name {
			return x, nil
		}
	}
	return client{}, &vault.Error{Code: vault.Usage, Message: fmt.Sprintf("no client %q", name), Hint: "accepted: " + strings.Join(clientNames(), ", ")}
}

// server is what a client's configuration says of this one.
func (m mcpFlags) server(c *cli, x client) (map[string]any, error) {
	args, err := m.serverArgs(c)
	if err != nil {
		return nil, err
	}
	exe, err := os.Executable()
	server := map[string]any{"command": exe, "args": args}
	for k, v := range x.more {
		server[k] = v
	}
	return server, err
}

// printConfig prints the snippet that makes a client start this program on this
// vault.
func (m mcpFlags) printConfig(c *cli, name string) error {
	x, err := findClient(name)
	if err != nil {
		return err
	}
	server, err := m.server(c, x)
	if err != nil {
		return err
	}
	text, err := x.with(nil, server)
	if err != nil {
		return err
	}
	_, err = c.out.Write(text)
	return err
}

// serverArgs are the arguments with which a client finds this vault from
// wherever it starts the server.
func (m mcpFlags) serverArgs(c *cli) ([]string, error) {
	cfg, err := vault.LoadConfig(c.locate())
	if err != nil {
		return nil, err
	}
	var args []string
	if cfg.File != "" {
		args = append(args, "--config", cfg.File)
	} else {
		args = append(args, "--vault", cfg.Collections[0].Path)
	}
	if c.flags.CacheDir != "" {
		dir, err := filepath.Abs(c.flags.CacheDir)
		if err != nil {
			return nil, err
		}
		args = append(args, "--cache-dir", dir)
	}
	args = append(args, "mcp")
	if m.ReadOnly {
		args = append(args, "--read-only")
	}
	if len(m.Tools) > 0 {
		args = append(args, "--tools", strings.Join(m.Tools, ","))
	}
	if m.Visibility != "" {
		args = append(args, "--visibility", string(m.Visibility))
	}
	if m.User != "" {
		args = append(args, "--user", m.User)
	}
	if m.Agent != "" {
		args = append(args, "--agent", m.Agent)
	}
	return args, nil
}

type mcpInstallCmd struct {
	mcpFlags
	Client string `arg:"" help:"claude-code, cursor or vscode (for the project in the current directory), claude-desktop or codex (for you)."`
	Yes    bool   `help:"Do not ask." short:"y"`
}

// Run shows what it would change in the client's configuration, and changes it
// when it is told to. All else in the file stays as it is.
func (i mcpInstallCmd) Run(c *cli) error {
	x, err := findClient(i.Client)
	if err != nil {
		return err
	}
	server, err := i.server(c, x)
	if err != nil {
		return err
	}
	file, err := x.file()
	if err != nil {
		return err
	}
	old, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	now, err := x.with(old, server)
	if err != nil {
		return &vault.Error{Code: vault.Conflict, Message: fmt.Sprintf("%s: %v", file, err),
			Hint: "add by hand what kb mcp --print-config " + x.name + " prints"}
	}
	if bytes.Equal(old, now) {
		_, err := fmt.Fprintf(c.out, "%s has it already\n", file)
		return err
	}
	fmt.Fprint(c.err, c.text(c.err).Plain(diff.Unified(file, file, old, now)))
	if !i.Yes && !c.confirmed("Write "+file+"?") {
		return &vault.Error{Code: vault.Conflict, Message: "nothing was written", Hint: "--yes writes without asking"}
	}
	if err := replaceFile(file, now); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "wrote %s: start %s anew\n", file, x.name)
	return err
}

// confirmed asks a person; without a terminal the answer is no.
func (c *cli) confirmed(question string) bool {
	if !isTerminal(c.in) || !isTerminal(c.err) {
		return false
	}
	fmt.Fprintf(c.err, "%s [y/N] ", question)
	answer := make([]byte, 64)
	n, err := c.in.Read(answer)
	word := strings.ToLower(strings.TrimSpace(string(answer[:max(n, 0)])))
	return err == nil && (word == "y" || word == "yes")
}

// replaceFile writes a file so that it is there as it was or as it is to be, and
// as private as it was.
func replaceFile(name string, data []byte) error {
	mode := fs.FileMode(0o644)
	if info, err := os.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // the file that a link leads to, not the link
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Chmod(mode), tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}

// with returns the configuration with the server kb in it, in place of one of that
// name if there is one.
func (x client) with(old []byte, server map[string]any) ([]byte, error) {
	if x.key == "" {
		return withTOML(old, server)
	}
	if len(bytes.TrimSpace(old)) == 0 {
		whole, err := json.MarshalIndent(map[string]any{x.key: map[string]any{"kb": server}}, "", "  ")
		return append(whole, '\n'), err
	}
	at, err := findJSON(old, x.key, "kb")
	if err != nil {
		return nil, err
	}
	value, err := json.MarshalIndent(server, at.indent, "  ")
	if err != nil {
		return nil, err
	}
	return slices.Concat(old[:at.from], []byte(fmt.Sprintf(at.form, value)), old[at.to:]), nil
}

// gap is where a value goes into a JSON text, and in what form.
type gap struct {
	from, to int
	form     string // with %s for the value
	indent   string
}

// findJSON finds where text, an object, has the value at outer and inner, or
// would have it. What is not JSON - comments, say - is an error.
func findJSON(text []byte, outer, inner string) (gap, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return gap{}, fmt.Errorf("it is no JSON object")
	}
	start := int(dec.InputOffset())
	found, err := member(dec, outer)
	if err != nil {
		return gap{}, err
	}
	if !found {
		return insertion(text, start, fmt.Sprintf("%q: {\n    %q: %%s\n  }", outer, inner), "  ", "    "), nil
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return gap{}, fmt.Errorf("%s is no object", outer)
	}
	start = int(dec.InputOffset())
	if found, err = member(dec, inner); err != nil {
		return gap{}, err
	}
	if !found {
		return insertion(text, start, fmt.Sprintf("%q: %%s", inner), "    ", "    "), nil
	}
	var raw json.RawMessage
	if err := dec.Decode(&raw); err != nil {
		return gap{}, err
	}
	end := int(dec.InputOffset())
	return gap{from: end - len(raw), to: end, form: "%s", indent: "    "}, tail(dec)
}

// member reads an object up to the value of a key.
func member(dec *json.Decoder, key string) (found bool, err error) {
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return false, err
		}
		if t == key {
			return true, nil
		}
		var skip json.RawMessage
		if err := dec.Decode(&skip); err != nil {
			return false, err
		}
	}
	_, err = dec.Token()
	return false, err
}

// tail reads the rest of the text, which must be JSON, too.
func tail(dec *json.Decoder) error {
	for {
		if _, err := dec.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// insertion is a gap after an opening brace.
func insertion(text []byte, at int, form, indent, inner string) gap {
	form = "\n" + indent + form
	if rest := bytes.TrimSpace(text[at:]); len(rest) > 0 && rest[0] == '}' {
		end := at + bytes.IndexByte(text[at:], '}')
		return gap{from: at, to: end, form: form + "\n" + indent[2:], indent: inner}
	}
	return gap{from: at, to: at, form: form + ",", indent: inner}
}

const tomlTable = "[mcp_servers.kb]"

// withTOML appends a table, or replaces the one of that name up to the next.
func withTOML(old []byte, server map[string]any) ([]byte, error) {
	table := fmt.Sprintf("%s\ncommand = %s\nargs = %s\n", tomlTable, quoteTOML(server["command"].(string)), quoteTOML(server["args"].([]string)...))
	from, to := -1, len(old)
	offset := 0
	for line := range bytes.Lines(old) {
		trimmed := strings.TrimSpace(string(line))
		switch {
		case trimmed == tomlTable:
			from = offset
		case from >= 0 && strings.HasPrefix(trimmed, "[") && to == len(old) && offset > from:
			to = offset
		case strings.Contains(trimmed, `"""`), strings.Contains(trimmed, "'''"):
			return nil, errors.New("it has texts of several lines")
		}
		offset += len(line)
	}
	if from < 0 {
		sep := ""
		if len(old) > 0 {
			sep = "\n"
			if !bytes.HasSuffix(old, []byte("\n")) {
				sep = "\n\n"
			}
		}
		return slices.Concat(old, []byte(sep+table)), nil
	}
	if to < len(old) {
		table += "\n"
	}
	return slices.Concat(old[:from], []byte(table), old[to:]), nil
}

// quoteTOML writes one basic string, or an array of several. JSON's strings are
// TOML's.
func quoteTOML(s ...string) string {
	quoted := make([]string, len(s))
	for i, x := range s {
		b, _ := json.Marshal(x)
		quoted[i] = string(b)
	}
	if len(s) == 1 {
		return quoted[0]
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}
