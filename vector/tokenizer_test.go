package vector

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// reference holds what the Hugging Face tokenizers library (its JavaScript
// form, 0.2.0) makes of texts: with the real model's Unigram tokenizer, and
// with WordPiece over the same vocabulary, uncased and cased.
var reference = []struct {
	text                    string
	unigram, uncased, cased []int32
}{
	{"naïve café Ångström ẞ İstanbul ÇA",
		[]int32{14745, 6670, 16078, 14689, 99, 8962, 5189},
		[]int32{14748, 6673, 16081, 14692, 102, 8965, 5192},
		[]int32{1, 1, 1, 1, 1, 1}},
	{"日本語テキスト 漢字",
		[]int32{867, 879, 953, 716, 29229, 29235, 29242, 907, 1},
		[]int32{870, 882, 956, 719, 29232, 29238, 29245, 910, 1},
		[]int32{870, 882, 956, 719, 29232, 29238, 29245, 910, 1}},
	{"한국어 텍스트",
		[]int32{472, 29008, 29023, 28993, 29016, 29022, 29001, 29010, 470, 29011, 29022, 28999, 29019, 29005, 29019},
		[]int32{475, 29011, 29026, 28996, 29019, 29025, 29004, 29013, 473, 29014, 29025, 29002, 29022, 29008, 29022},
		[]int32{1, 1}},
	{"हिन्दी पाठ",
		[]int32{342, 28879, 28865, 28863, 28880, 331, 28878, 1},
		[]int32{345, 28882, 28868, 28866, 28883, 1},
		[]int32{1, 1}},
	{"العربية نَصٌّ",
		[]int32{273, 22675, 28832, 16151, 28818, 13500, 18435, 299, 28828},
		[]int32{276, 22678, 28835, 16154, 28821, 13503, 18438, 302, 28831},
		[]int32{276, 22678, 28835, 16154, 28821, 13503, 18438, 1}},
	{"a\u200db\u00adc\ufeffd",
		[]int32{10115, 18799},
		[]int32{4930, 1100},
		[]int32{4930, 1100}},
	{"\u2028x\u2029y\u00a0z\u3000w",
		[]int32{63, 64, 65, 62},
		[]int32{66, 67, 68, 65},
		[]int32{66, 67, 68, 65}},
	{"🙂👩\u200d👩\u200d👧 x",
		[]int32{1, 63},
		[]int32{1, 66},
		[]int32{1, 66}},
	{"ﬁ ﬂ ½ ²",
		[]int32{987, 988, 95, 85},
		[]int32{990, 991, 98, 88},
		[]int32{990, 991, 98, 88}},
	{"!!!...---",
		[]int32{2, 2, 2, 15, 15, 15, 14, 14, 14},
		[]int32{5, 5, 5, 18, 18, 18, 17, 17, 17},
		[]int32{5, 5, 5, 18, 18, 18, 17, 17, 17}},
	{strings.Repeat("x", 101),
		[]int32{63, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350, 19350},
		[]int32{1},
		[]int32{1}},
	{"",
		nil,
		nil,
		nil},
	{" ",
		nil,
		nil,
		nil},
	{"\t\n",
		nil,
		nil,
		nil},
	{"##ing",
		[]int32{4, 4, 12751},
		[]int32{7, 7, 12754},
		[]int32{7, 7, 12754}},
	{"▁a▁b",
		[]int32{40, 41},
		[]int32{1},
		[]int32{1}},
	{"\u0000a\ufffdb",
		[]int32{10115},
		[]int32{10118},
		[]int32{10118}},
}

func TestTokenizersEqualReference(t *testing.T) {
	src, err := os.ReadFile(shared(t, "models", "m2v-bge64-vq128", "tokenizer.json"))
	if err != nil {
		t.Fatal(err)
	}
	vocab := wordPieceVocab(t, src)
	unigram, uncased, cased := mustParse(t, src), mustParse(t, wordPieceJSON(vocab, true)), mustParse(t, wordPieceJSON(vocab, false))
	for _, c := range reference {
		for _, k := range []struct {
			name string
			tok  *tokenizer
			want []int32
		}{{"unigram", unigram, c.unigram}, {"uncased", uncased, c.uncased}, {"cased", cased, c.cased}} {
			if got := k.tok.tokens(c.text, 1000); !slices.Equal(got, k.want) {
				t.Errorf("%s tokens of %q: got %v, want %v", k.name, c.text, got, k.want)
			}
		}
	}
}

// wordPieceVocab rewrites the pieces of a Unigram tokenizer as WordPiece has them.
func wordPieceVocab(t *testing.T, src []byte) []string {
	t.Helper()
	var j tokenizerJSON
	if err := json.Unmarshal(src, &j); err != nil {
		t.Fatal(err)
	}
	pieces, err := j.Model.scoredVocab()
	if err != nil {
		t.Fatal(err)
	}
	vocab := slices.Clone(specials)
	seen := make(map[string]bool)
	for _, p := range pieces[2:] {
		text, head := strings.CutPrefix(p.text, "▁")
		if !head {
			text = "##" + text
		}
		if text != "" && !seen[text] {
			seen[text] = true
			vocab = append(vocab, text)
		}
	}
	return vocab
}

var specials = []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}

// wordPieceJSON writes a tokenizer.json as BERT models have it. The vocabulary
// begins with specials.
func wordPieceJSON(vocab []string, lowercase bool) []byte {
	ids := make(map[string]int)
	for i, text := range vocab {
		ids[text] = i
	}
	var added []addedJSON
	for i, text := range specials {
		added = append(added, addedJSON{int32(i), text, true})
	}
	src, err := json.Marshal(map[string]any{
		"added_tokens":   added,
		"truncation":     map[string]any{"max_length": 4}, // to be ignored
		"normalizer":     map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": nil, "lowercase": lowercase},
		"pre_tokenizer":  map[string]any{"type": "BertPreTokenizer"},
		"post_processor": map[string]any{"type": "BertProcessing", "sep": []any{"[SEP]", 3}, "cls": []any{"[CLS]", 2}},
		"model":          map[string]any{"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": ids},
	})
	if err != nil {
		panic(err)
	}
	return src
}

// unigramJSON writes a tokenizer.json whose token 0 is the unknown one.
func unigramJSON(fallback bool, pieces ...scored) []byte {
	vocab := [][2]any{{"<unk>", 0.0}}
	for _, p := range pieces {
		vocab = append(vocab, [2]any{p.text, p.score})
	}
	src, err := json.Marshal(map[string]any{
		"pre_tokenizer": map[string]any{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true},
		"model":         map[string]any{"type": "Unigram", "unk_id": 0, "byte_fallback": fallback, "vocab": vocab},
	})
	if err != nil {
		panic(err)
	}
	return src
}

func mustParse(tb testing.TB, src []byte) *tokenizer {
	tb.Helper()
	tok, err := parseTokenizer(src)
	if err != nil {
		tb.Fatal(err)
	}
	return tok
}

func TestWordPiece(t *testing.T) {
	tok := mustParse(t, wordPieceJSON(append(slices.Clone(specials), "un", "##aff", "##able", "able", "cafe", ",", "中"), true))
	for _, c := range []struct {
		text string
		want []int32
	}{
		{"", []int32{2, 3}},
		{"Unaffable", []int32{2, 5, 6, 7, 3}},
		{"un able", []int32{2, 5, 8, 3}},
		{"u\x7fn\x01", []int32{2, 5, 3}},
		{"unaffably", []int32{2, 1, 3}},
		{"CAFÉ,cafe\u0301", []int32{2, 9, 10, 9, 3}},
		{"中中able", []int32{2, 11, 11, 8, 3}},
		{"[SEP]", []int32{2, 1, 1, 1, 3}}, // a special token's name is text
		{"a\xff", []int32{2, 1, 3}},
	} {
		if got := tok.framed(c.text, 100); !slices.Equal(got, c.want) {
			t.Errorf("framed(%q) = %v, want %v", c.text, got, c.want)
		}
	}
	if got, want := tok.framed("un able un able", 4), []int32{2, 5, 8, 3}; !slices.Equal(got, want) {
		t.Errorf("framed to 4 = %v, want %v", got, want)
	}
	if got, want := tok.framed("un able", 1), []int32{2, 3}; !slices.Equal(got, want) {
		t.Errorf("framed to 1 = %v, want the frame %v", got, want)
	}
}

func TestUnigram(t *testing.T) {
	pieces := []scored{{"▁", -1}, {"a", -1}, {"b", -1}, {"ab", -1.5}, {"▁ab", -4}, {"abc", -9}}
	tok := mustParse(t, unigramJSON(false, pieces...))
	for _, c := range []struct {
		text string
		want []int32
	}{
		{"", nil},
		{"ab", []int32{1, 4}},
		{"ba", []int32{1, 3, 2}},
		{"abc", []int32{1, 6}},
		{"a世界b", []int32{1, 2, 0, 3}}, // unknown characters side by side are one token
		{"a a", []int32{1, 2, 1, 2}},
	} {
		if got := tok.tokens(c.text, 100); !slices.Equal(got, c.want) {
			t.Errorf("tokens(%q) = %v, want %v", c.text, got, c.want)
		}
	}
}

func TestUnigramByteFallback(t *testing.T) {
	pieces := []scored{{"▁", -1}}
	for b := range 256 {
		pieces = append(pieces, scored{fmt.Sprintf("<0x%02X>", b), -20})
	}
	tok := mustParse(t, unigramJSON(true, pieces...))
	if got, want := tok.tokens("é", 100), []int32{1, 2 + 0xC3, 2 + 0xA9}; !slices.Equal(got, want) {
		t.Errorf("tokens(é) = %v, want %v", got, want)
	}
}

// TestUnigramIsBest compares with every way to cut short texts.
func TestUnigramIsBest(t *testing.T) {
	pieces := []scored{{"▁", -3}, {"a", -2}, {"b", -2.5}, {"aa", -3.75}, {"ab", -4}, {"ba", -5}, {"aba", -6.125}, {"▁a", -4.5}, {"bb▁", -1}}
	u := mustParse(t, unigramJSON(false, pieces...)).cutter.(*unigram)
	var best func(s string) float64
	best = func(s string) float64 {
		if s == "" {
			return 0
		}
		_, size := utf8.DecodeRuneInString(s)
		score := u.penalty + best(s[size:])
		for i, p := range pieces {
			if strings.HasPrefix(s, p.text) {
				score = max(score, u.scores[i+1]+best(s[len(p.text):]))
			}
		}
		return score
	}
	for n := range 1 << 12 {
		text := ""
		for m := n; m > 1; m >>= 2 {
			text += []string{"a", "b", "▁", "x"}[m&3]
		}
		got := 0.0
		for _, id := range u.cut(nil, text) {
			got += u.scores[id]
		}
		if strings.Contains(text, "x") {
			continue // an unknown token hides how many characters it is
		}
		if want := best(text); got != want {
			t.Fatalf("cut(%q) scores %v, want %v", text, got, want)
		}
	}
}

func TestNormalizersAndSplitters(t *testing.T) {
	for _, c := range []struct {
		normalizer, split, text string
		want                    []string
	}{
		{`null`, `null`, " a b", []string{" a b"}},
		{`{"type":"NFKC"}`, `{"type":"WhitespaceSplit"}`, "ﬁ\u3000x", []string{"fi", "x"}},
		{`{"type":"Sequence","normalizers":[{"type":"NFD"},{"type":"StripAccents"},{"type":"Lowercase"}]}`, `null`, "ÉÀ", []string{"ea"}},
		{`{"type":"Lowercase"}`, `null`, "Iİ", []string{"ii\u0307"}},
		{`{"type":"Replace","pattern":{"Regex":" {2,}"},"content":" "}`, `null`, "a b  c   d ", []string{"a b c d "}},
		{`{"type":"Replace","pattern":{"Regex":"\\s+"},"content":"_"}`, `null`, "a\u00a0 b\n", []string{"a_b_"}},
		{`{"type":"Sequence","normalizers":[{"type":"Replace","pattern":{"String":"a"},"content":"b"},{"type":"Replace","pattern":{"String":"b"},"content":"c"}]}`, `null`, "ab", []string{"cc"}},
		{`{"type":"Sequence","normalizers":[{"type":"Replace","pattern":{"String":"!"},"content":" ! "},{"type":"Replace","pattern":{"String":"?"},"content":" ? "}]}`, `null`, "!?", []string{" !  ? "}},
		{`{"type":"Strip","strip_left":true,"strip_right":false}`, `null`, " a ", []string{"a "}},
		{`{"type":"Prepend","prepend":"▁"}`, `null`, "a", []string{"▁a"}},
		{`null`, `{"type":"Metaspace","replacement":"▁","add_prefix_space":true}`, "a b  c", []string{"▁a", "▁b", "▁", "▁c"}},
		{`null`, `{"type":"Metaspace","replacement":"▁","prepend_scheme":"never"}`, "a b", []string{"a", "▁b"}},
		{`null`, `{"type":"Metaspace","replacement":"▁","prepend_scheme":"always","split":false}`, "a b", []string{"▁a▁b"}},
		{`null`, `{"type":"Sequence","pretokenizers":[{"type":"WhitespaceSplit"},{"type":"Metaspace","replacement":"▁","prepend_scheme":"first"}]}`, "a b", []string{"▁a", "b"}},
		{`null`, `{"type":"BertPreTokenizer"}`, "don't: a。b  ", []string{"don", "'", "t", ":", "a", "。", "b"}},
	} {
		normalize, err := parseNormalizer(json.RawMessage(c.normalizer))
		if err != nil {
			t.Fatal(err)
		}
		split, err := parseSplitter(json.RawMessage(c.split))
		if err != nil {
			t.Fatal(err)
		}
		text := c.text
		for _, f := range normalize {
			text = f(text)
		}
		var got []string
		split(text, true, func(word string) bool { got = append(got, word); return true })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s of %q: got %q, want %q", c.normalizer, c.split, c.text, got, c.want)
		}
		got = nil
		split(text, true, func(word string) bool { got = append(got, word); return false })
		if !slices.Equal(got, c.want[:1]) {
			t.Errorf("%s of %q does not stop: %q", c.split, c.text, got)
		}
	}
}

func TestTokenizerRefuses(t *testing.T) {
	good := string(wordPieceJSON(slices.Clone(specials), true))
	for _, c := range []struct {
		name, old, new string
		want           error
	}{
		{"another model", `"WordPiece"`, `"BPE"`, ErrUnsupported},
		{"another normalizer", `"BertNormalizer"`, `"Nmt"`, ErrUnsupported},
		{"another splitter", `"BertPreTokenizer"`, `"ByteLevel"`, ErrUnsupported},
		{"another frame", `"BertProcessing"`, `"ByteLevel"`, ErrUnsupported},
		{"no unknown token", `"[UNK]":1`, `"x":1`, ErrModel},
		{"a negative token", `"[UNK]":1`, `"[UNK]":-1`, ErrModel},
		{"a huge token", `"[UNK]":1`, `"[UNK]":2000000000`, ErrModel},
		{"a frame out of range", `["[CLS]",2]`, `["[CLS]",9]`, ErrModel},
		{"truncated", `"vocab":{`, ``, ErrModel},
	} {
		if !strings.Contains(good, c.old) {
			t.Fatalf("%s: %s is not in %s", c.name, c.old, good)
		}
		_, err := parseTokenizer([]byte(strings.Replace(good, c.old, c.new, 1)))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, err, c.want)
		}
	}
}

// TestTokenizersAreLinear would not end if a tokenizer were quadratic.
func TestTokenizersAreLinear(t *testing.T) {
	vocab := append(slices.Clone(specials), "a", "##a", "##aa", strings.Repeat("a", 10))
	uni := []scored{{"▁", -1}, {"a", -1}, {strings.Repeat("a", 10), -2}}
	for _, text := range []string{strings.Repeat("a", 1<<21), strings.Repeat("é", 1<<20)} {
		for _, src := range [][]byte{wordPieceJSON(vocab, true), unigramJSON(false, uni...)} {
			tok := mustParse(t, src)
			if got, want := tok.tokens(text, 1<<21), tok.tokens(text[:maxText], 1<<21); !slices.Equal(got, want) {
				t.Errorf("%q... gives %d tokens, its beginning %d", text[:4], len(got), len(want))
			}
		}
	}
}

func FuzzTokenizer(f *testing.F) {
	f.Add(wordPieceJSON(append(slices.Clone(specials), "a", "##b", "中"), true), "ab 中 É")
	f.Add(unigramJSON(false, scored{"▁a", -1}, scored{"b", -2}), "ab a")
	f.Add([]byte(`{"model":{"type":"Unigram","vocab":[["",0]]}}`), "x")
	f.Fuzz(func(t *testing.T, src []byte, text string) {
		tok, err := parseTokenizer(src)
		if err != nil {
			return
		}
		for _, id := range tok.framed(text, 64) {
			if id < 0 || int(id) >= tok.size {
				t.Fatalf("token %d of %d", id, tok.size)
			}
		}
	})
}
