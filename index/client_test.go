package index

import (
	"bytes"
	"encoding/json"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The client of a site reads words as the server does: odd words, and the stop
// words of each language, have the same terms there.
func TestClientWords(t *testing.T) {
	compareWords(t, func(language string) []string {
		stops, err := StopWords(language)
		if err != nil {
			t.Fatal(err)
		}
		return append(stops, strings.Fields(oddWords)...)
	})
}

// Every language's rules read some words of texts in five languages.
func TestClientWordsCollections(t *testing.T) {
	seen := map[string]bool{}
	for _, language := range []string{"de", "en", "ru", "th", "zh"} {
		for w := range strings.FieldsSeq(string(readGzip(t, filepath.Join(sharedDir(t, "data/ir/xquad"), language, "corpus.jsonl.gz")))) {
			if hashTerm(w)%32 == 0 {
				seen[w] = true
			}
		}
	}
	words := slices.Sorted(maps.Keys(seen))
	compareWords(t, func(string) []string { return words })
}

// reading is a token as both sides report it: term, text, kind.
type reading [3]any

func compareWords(t *testing.T, words func(language string) []string) {
	t.Helper()
	languages := slices.DeleteFunc(Languages(), func(name string) bool { return name == "pl" }) // the client has no Polish stemmer
	got := clientReadings(t, languages, words)
	for i, name := range languages {
		l, err := newLanguage(name)
		if err != nil {
			t.Fatal(err)
		}
		a, wrong := newAnalyzer(l), 0
		for k, w := range words(name) {
			var want []reading
			for _, tok := range a.tokens(nil, []byte(w)) {
				want = append(want, reading{tok.term.text, w[tok.start:tok.end], float64(tok.kind)})
			}
			if !slices.Equal(got[i][k], want) {
				if wrong++; wrong <= 10 {
					t.Errorf("%s: %+q: client %+q, server %+q", name, w, got[i][k], want)
				}
			}
		}
	}
}

// clientReadings reads words as the client does, by the rules of several languages.
func clientReadings(t *testing.T, languages []string, words func(string) []string) (out [][][]reading) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("no node: the client cannot be run")
	}
	var in, stderr bytes.Buffer
	enc := json.NewEncoder(&in)
	for _, name := range languages {
		articles, err := Articles(name)
		if err == nil {
			err = enc.Encode(map[string]any{"language": name, "articles": articles, "words": words(name)})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(node, "../site/testdata/search.js", "../site/assets/stem", "words")
	cmd.Stdin, cmd.Stderr = &in, &stderr
	answer, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, &stderr)
	}
	for dec := json.NewDecoder(bytes.NewReader(answer)); len(out) < len(languages); {
		var of [][]reading
		if err := dec.Decode(&of); err != nil || len(of) != len(words(languages[len(out)])) {
			t.Fatalf("%s: %d words read, %v\n%s", languages[len(out)], len(of), err, &stderr)
		}
		out = append(out, of)
	}
	return out
}

// oddWords are read in ways of their own.
const oddWords = `C++ c# F#m fooBar HTTPServer APIs iPhone XMLHttpRequest2 foo-bar foo_bar.baz std::vector::iterator 2024-01-31 1,000,000
a-b-c-d-e-f-g don't l'été dell'arte o'clock's s's 's İstanbul'da Türkiye'nin ırmak DİYARBAKIR ＦＵＬＬｗｉｄｔｈ ｶﾞﾗｽ ガラス ㍿ ｰ
naïve Å Å ﬁne Straße ẞ łódź Đà ø ŒUVRE ǅungla ᾳ Ὀδυσσεύς ΌΣΟΣ σς ёлка Ёлки й й العَرَبِيَّةُ والكتاب שָׁלוֹם हिन्दी क़लम लड़कियाँ தமிழ் മലയാളം ไทย ກຳ ខ្មែរ မြန်မာ བོད་
한국어 각 조선 日本語 東京都々〇 〆切 ㄅㄆㄇ 𠀀𠀁 𝒳y 𝟙2 ① Ⅷ ½ x² H₂O ª º ſtop K Ω ﷺ ٣٤ ४५ １２３ 🙂 👩‍💻 a👍b 1Привет Приветhello abПривет ﬀ ŉ ǰ ΐ ΰ և ẖ ᾶ`
