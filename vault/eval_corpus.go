package vault

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// CorpusVault makes a bare repository of the notes in dir's corpus.jsonl, one a
// line, below cacheDir, and returns the configuration of a vault on it. The
// same corpus gives the same repository: it is made once. model is as in a
// configuration, or "".
func CorpusVault(ctx context.Context, dir, cacheDir, language, model string) (*Config, error) {
	stream, key, err := corpusStream(dir)
	if err != nil {
		return nil, err
	}
	repo := filepath.Join(cacheDir, "eval", key+".git")
	if _, err := os.Stat(filepath.Join(repo, "refs", "heads", "main")); err != nil {
		if err := importCorpus(ctx, repo, stream); err != nil {
			return nil, err
		}
	}
	if installed := (&Config{CacheDir: cacheDir}); model != "" && !isModelPath(model) && model != noModel {
		model = filepath.Join(installed.modelsDir(), model)
	}
	c := &Config{
		CacheDir:    filepath.Join(cacheDir, "eval"),
		Model:       model,
		View:        "HEAD",
		Language:    language,
		Collections: []CollectionConfig{{Name: "corpus", Path: repo}},
	}
	return c, c.resolve()
}

// corpusStream is the corpus as input of git fast-import, and its hash.
func corpusStream(dir string) (stream []byte, key string, err error) {
	var blobs, tree bytes.Buffer
	mark := 0
	err = eachLine(dir, "corpus.jsonl", func(_ int, line string) error {
		var d struct {
			ID    string `json:"_id"`
			Title string `json:"title"`
			Text  string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil {
			return err
		}
		if d.ID == "" {
			return fmt.Errorf("a document has no _id")
		}
		mark++
		note := corpusNote(d.Title, d.Text)
		fmt.Fprintf(&blobs, "blob\nmark :%d\ndata %d\n%s\n", mark, len(note), note)
		fmt.Fprintf(&tree, "M 100644 :%d %s\n", mark, corpusPath(d.ID))
		return nil
	})
	if err != nil {
		return nil, "", err
	}
	blobs.WriteString("commit refs/heads/main\ncommitter kb <kb@localhost> 946684800 +0000\ndata 6\ncorpus\n")
	blobs.Write(tree.Bytes())
	blobs.WriteString("done\n")
	sum := sha256.Sum256(blobs.Bytes())
	return blobs.Bytes(), hex.EncodeToString(sum[:8]), nil
}

// corpusNote writes a document as a note: its title as a property, so that the
// text is all there is in the body.
func corpusNote(title, text string) string {
	if title == "" {
		return text + "\n"
	}
	quoted, _ := json.Marshal(title) // a JSON string is a YAML string
	return fmt.Sprintf("---\ntitle: %s\n---\n\n%s\n", quoted, text)
}

// corpusPath encodes an id so that no query's words occur in it.
func corpusPath(id string) string { return "x" + hex.EncodeToString([]byte(id)) + ".md" }

// corpusID reads what corpusPath wrote.
func corpusID(path string) string {
	id, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(path, "x"), ".md"))
	if err != nil {
		return path
	}
	return string(id)
}

// importCorpus makes the repository with the git program and puts it in place
// whole.
func importCorpus(ctx context.Context, repo string, stream []byte) error {
	if err := os.MkdirAll(filepath.Dir(repo), 0o755); err != nil {
		return errorf(Internal, "make %s: %w", repo, err)
	}
	tmp, err := os.MkdirTemp(filepath.Dir(repo), "import-*")
	if err != nil {
		return errorf(Internal, "make %s: %w", repo, err)
	}
	defer os.RemoveAll(tmp)
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=main", tmp},
		{"-C", tmp, "fast-import", "--quiet", "--done"},
	} {
		cmd := exec.CommandContext(ctx, "git", args...)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
		cmd.Stdin = bytes.NewReader(stream)
		if out, err := cmd.CombinedOutput(); err != nil {
			return errorf(Internal, "git %s: %w: %s", args[0], err, bytes.TrimSpace(out)).
				hint("kb eval makes its vault with the git program")
		}
	}
	os.RemoveAll(repo) // what an interrupted import may have left
	return os.Rename(tmp, repo)
}
