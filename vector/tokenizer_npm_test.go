package vector

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestTokenizersEqualHuggingFace compares 10,000 paragraphs in forty languages,
// and as many of chance, with what Hugging Face's own tokenizers make of them.
func TestTokenizersEqualHuggingFace(t *testing.T) {
	if os.Getenv("KB_LONG") == "" {
		t.Skip("long: KB_LONG=1 runs it")
	}
	if _, err := os.Stat("testdata/npm/node_modules"); err != nil {
		t.Skip("not installed: npm ci --ignore-scripts --prefix vector/testdata/npm")
	}
	src, err := os.ReadFile(shared(t, "models", "m2v-bge64-vq128", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	texts := append(manuals(t, 10000), chance(2000)...)
	vocab := wordPieceVocab(t, src)
	for name, file := range map[string][]byte{"unigram": src, "uncased": wordPieceJSON(vocab, true), "cased": wordPieceJSON(vocab, false)} {
		want := huggingFace(t, file, texts)
		tok := mustParse(t, file)
		ties, differ := 0, 0
		for i, text := range texts {
			got := tok.tokens(text, 1<<20)
			switch {
			case slices.Equal(got, want[i]):
			case asLikely(tok, got, want[i]):
				ties++
			default:
				if differ++; differ <= 20 {
					t.Logf("%s: %q: got %v, want %v", name, text, got, want[i])
				}
			}
		}
		t.Logf("%s: %d of %d texts differ, and %d between ways that are equally likely", name, differ, len(texts), ties)
		if differ > knownDifferences[name] {
			t.Errorf("%s: more than the %d that are known", name, knownDifferences[name])
		}
	}
}

// asLikely reports whether two ways to cut a text are equally likely. The
// JavaScript library compares sums after it has added the next piece's score,
// and so takes sums for equal that differ in the last bit; the one in Rust, like
// ours, compares before.
func asLikely(tok *tokenizer, a, b []int32) bool {
	u, ok := tok.cutter.(*unigram)
	if !ok {
		return false
	}
	sum := 0.0
	for _, id := range a {
		sum += u.scores[id]
	}
	for _, id := range b {
		sum -= u.scores[id]
	}
	return math.Abs(sum) < 1e-9
}

// knownDifferences: JavaScript makes ς of a Σ that ends a word, where the library
// in Rust and ours look at one character alone.
var knownDifferences = map[string]int{"uncased": 1}

// huggingFace returns the tokens that the reference makes.
func huggingFace(t *testing.T, tokenizer []byte, texts []string) (all [][]int32) {
	t.Helper()
	dir := t.TempDir()
	list, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	files := []string{filepath.Join(dir, "tokenizer.json"), filepath.Join(dir, "texts.json")}
	for i, src := range [][]byte{tokenizer, list} {
		if err := os.WriteFile(files[i], src, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("node", "testdata/npm/tokens.mjs", files[0], files[1])
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, said.String())
	}
	if err := json.Unmarshal(out, &all); err != nil || len(all) != len(texts) {
		t.Fatalf("%d answers, %v", len(all), err)
	}
	return all
}

// manuals returns n paragraphs of the tldr pages, as many of every language as
// it has, up to a share.
func manuals(t *testing.T, n int) (texts []string) {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{"tar", "xzf", shared(t, "vaults", "tldr.git.tar.gz"), "-C", dir},
		{"sh", "-c", "git -C '" + dir + "'/tldr.git archive HEAD | tar x -C '" + dir + "' --wildcards 'pages*'"}} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	languages, err := filepath.Glob(filepath.Join(dir, "pages*"))
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for i, language := range languages {
		share := (n - len(texts)) / (len(languages) - i)
		pages, err := filepath.Glob(filepath.Join(language, "*", "*.md"))
		if err != nil {
			t.Fatal(err)
		}
		for j := 0; j < len(pages) && share > 0; j++ {
			page, err := os.ReadFile(pages[j*7919%len(pages)])
			if err != nil {
				t.Fatal(err)
			}
			for paragraph := range strings.SplitSeq(string(page), "\n\n") {
				if !seen[paragraph] && share > 0 {
					seen[paragraph] = true
					texts, share = append(texts, paragraph), share-1
				}
			}
		}
	}
	t.Logf("%d paragraphs in %d languages", len(texts), len(languages))
	return texts
}

// chance returns texts of characters from everywhere but the ideographs beyond
// U+FFFF: the JavaScript library looks at half of such a character and does not
// take it for one, as the one in Rust and ours do.
func chance(n int) (texts []string) {
	r := rand.New(rand.NewPCG(5, 6))
	blocks := []rune{0, 0x80, 0x300, 0x400, 0x590, 0x600, 0x900, 0xE00, 0x1100, 0x1E00, 0x2000, 0x2100, 0x3000, 0x4E00, 0xAC00, 0xF900, 0xFB00, 0xFE00, 0xFF00, 0x1F600}
	for range n {
		var b strings.Builder
		for range 1 + r.IntN(40) {
			c := blocks[r.IntN(len(blocks))] + rune(r.IntN(0x100))
			if r.IntN(3) == 0 {
				c = rune("abc XYZ .,!é"[r.IntN(11)])
			}
			if utf8.ValidRune(c) {
				b.WriteRune(c)
			}
		}
		texts = append(texts, b.String())
	}
	return texts
}
