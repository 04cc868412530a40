package index

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

func testAnalyzer(t testing.TB, lang string) *analyzer {
	t.Helper()
	l, err := newLanguage(lang)
	if err != nil {
		t.Fatal(err)
	}
	return newAnalyzer(l)
}

// terms renders tokens: parts in parentheses, wholes in brackets.
func terms(a *analyzer, text string) string {
	var out []string
	for _, t := range a.tokens(nil, []byte(text)) {
		switch t.kind {
		case partToken:
			out = append(out, "("+t.term.text+")")
		case wholeToken:
			out = append(out, "["+t.term.text+"]")
		default:
			out = append(out, t.term.text)
		}
	}
	return strings.Join(out, " ")
}

func TestTokens(t *testing.T) {
	for _, c := range []struct{ lang, text, want string }{
		{"en", "The quick, running foxes!", "the quick run fox"},
		{"en", "Ada's dog isn’t O'Reilly's", "ada dog isnt oreilli"},
		{"en", "'quoted' and rock 'n' roll", "quot and rock n roll"},
		{"en", "foo_bar foo-bar", "foo bar [foobar] foo bar [foobar]"},
		{"en", "fooBar HTTPServer APIs iPhone", "foobar (foo) (bar) httpserver (http) (server) api iphon"},
		{"en", "node.js std::vec a:b", "node js [nodej] std vec [stdvec] a b"},
		{"en", "C++ c# i++; F# 5+5", "c [c++] c [c#] i [i++] f [f#] 5 5"},
		{"en", "v1.2.3 1,000 2024-01-31 a,b", "v1 2 3 [v123] 1 000 [1000] 2024 01 31 [20240131] a b"},
		{"en", "one-two-three-four-five-six-seven", "one two three four five six seven"},
		{"en", "__init__ --flag -x", "init flag x"},
		{"en", "Café naïve Übung ﬁn", "cafe naiv ubung ﬁn"},
		{"en", "Straße ſ Łódź", "strasse ſ lodz"},
		{"en", "ＦＵＬＬ　ｗｉｄｔｈ １２", "full width 12"},
		{"en", "soft\u00adhyphen zero\u200bwidth", "softhyphen zerowidth"},
		{"en", "e\u0301te\u0301", "ete"},
		{"en", "Москва москвы Ελλάδα", "москв москв ελλαδα"},
		{"en", "שָׁלוֹם", "שלום"},
		{"en", "हिन्दी भाषाएं", "हिंद भाष"},
		{"en", "الكتاب كِتَاب", "كتاب كتاب"},
		{"en", "北京大学 京", "北京 京大 大学 (学) 京"},
		{"en", "東京タワー ﾀﾜｰ ｶﾞ", "東京 京タ タワ ワー (ー) タワ ワー (ー) ガ"},
		{"en", "한국어x", "한국 국어 (어) x"},
		{"en", "ที่นี่", "ที่นี่ (นี่)"},
		{"en", "ไทย中国", "ไท ทย (ย) 中国 (国)"},
		{"en", "🙂 … — \x00", ""},
		{"de", "Häuser Fußgänger", "haus fussgang"},
		{"fr", "l'homme qu’il aujourd'hui", "homm il aujourdhui"},
		{"ru", "книги running", "книг run"},
		{"bg", "книгите running", "книгите run"},
		{"ca", "l'aigua", "aigua"},
		{"it", "dell'arte", "arte"},
		{"tr", "İstanbul'un kitapları", "istanbul kitap"},
		{"fa", "کتاب\u200cها", "كتابها"},
		{"pl", "książkami", "ksiazek"},
		{"ta", "புத்தகங்கள்", "புத்தகம்"},
		{"ga", "b'fhéidir mbeidh", "feidir beidh"},
		{"none", "running Книги हिन्दी Ada's", "running книги हिन्दी ada"},
	} {
		if got := terms(testAnalyzer(t, c.lang), c.text); got != c.want {
			t.Errorf("%s %q:\n got %q\nwant %q", c.lang, c.text, got, c.want)
		}
	}
}

// TestLanguagesAreWhole tries every language on words that break stemmers: no
// filter may panic, lose a word, or say two things of one word.
func TestLanguagesAreWhole(t *testing.T) {
	words := strings.Fields("a i ii s ss 's x's l'a d' e é ü ß ö'ö aaaaaaaa ности ing ings ы ي ال وال الها क कि ि ்கள் ا \u0301 9 \xff")
	r := rand.New(rand.NewPCG(5, 6))
	letters := []rune("aeiourstnljčšžäöüßéñçğıłąавеиносткاليونهةکیपरकतािोதகள்ήσος'")
	for range 2000 {
		w := make([]rune, 1+r.IntN(12))
		for i := range w {
			w[i] = letters[r.IntN(len(letters))]
		}
		words = append(words, string(w))
	}
	for _, name := range Languages() {
		l, err := newLanguage(name)
		if err != nil {
			t.Fatal(err)
		}
		again, err := newLanguage(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range words {
			got := l.normalize(w)
			if got == "" && strings.Trim(fold(w), "'\u0301") != "" || !utf8.ValidString(got) && utf8.ValidString(w) {
				t.Errorf("%s: %q becomes %q", name, w, got)
			}
			if other := again.normalize(w); other != got {
				t.Errorf("%s: %q becomes %q, and %q", name, w, got, other)
			}
		}
	}
}

func TestTermsAreCut(t *testing.T) {
	a := testAnalyzer(t, "en")
	for _, s := range []string{strings.Repeat("x", 1000), strings.Repeat("é", 1000), strings.Repeat("ü", 300)} {
		for _, tok := range a.tokens(nil, []byte(s)) {
			if len(tok.term.text) > maxTerm || !utf8.ValidString(tok.term.text) || len(tok.term.text) < maxTerm-3 {
				t.Errorf("term of %d bytes", len(tok.term.text))
			}
		}
	}
}

// wide spells letters and digits in full width, which the analyzer reads
// without its ASCII paths.
func wide(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && asciiClass[r].wordly() {
			return r + 0xfee0
		}
		return r
	}, s)
}

func TestASCIIPathAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const alphabet = "abcXYZ019 '-_.,:+#/\n("
	a := testAnalyzer(t, "en")
	for range 20000 {
		b := make([]byte, r.IntN(14))
		for i := range b {
			b[i] = alphabet[r.IntN(len(alphabet))]
		}
		if got, want := terms(a, string(b)), terms(a, wide(string(b))); got != want {
			t.Fatalf("%q: ASCII %q, full width %q", b, got, want)
		}
	}
}

func FuzzTokens(f *testing.F) {
	for _, s := range []string{"foo_bar C++ node.js", "北京大学x", "e\u0301'’s", "\xff\xfe", "ไทย中国 ﾀﾞ", "a.b.c.d::e"} {
		f.Add(s)
	}
	a := testAnalyzer(f, "en")
	f.Fuzz(func(t *testing.T, s string) {
		toks := a.tokens(nil, []byte(s))
		last := int32(0)
		for i, k := range toks {
			if k.start < 0 || k.end <= k.start || int(k.end) > len(s) {
				t.Fatalf("%q: token %d at [%d, %d)", s, i, k.start, k.end)
			}
			if k.kind == mainToken {
				if k.start < last {
					t.Fatalf("%q: token %d begins at %d, before %d", s, i, k.start, last)
				}
				last = k.start
			}
			if k.term.text == "" || len(k.term.text) > maxTerm || strings.HasPrefix(k.term.text, tagMark) {
				t.Fatalf("%q: term %q", s, k.term.text)
			}
		}
		if again := testAnalyzer(t, "en"); terms(a, s) != terms(again, s) {
			t.Fatalf("%q: %q, and afresh %q", s, terms(a, s), terms(again, s))
		}
	})
}

func TestTallyPacks(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 10000 {
		var want tally
		for f := range want {
			if r.IntN(3) == 0 {
				want[f] = uint32(r.IntN(8))
			}
		}
		if want == (tally{}) {
			want[fieldBody] = 1
		}
		var got tally
		if unpack(want.pack(), &got); got != want {
			t.Fatalf("packed %v, got %v", want, got)
		}
	}
	huge := tally{1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30, 1 << 30}
	var got tally
	unpack(huge.pack(), &got)
	for f, n := range got {
		if n == 0 || f < fieldBody && n != 1<<tallyBits[f]-1 {
			t.Errorf("%s: %d", fieldNames[f], n)
		}
	}
	if huge.pack() >= 1<<62 {
		t.Error("does not fit beside zap's flag")
	}
}

func BenchmarkTokens(b *testing.B) {
	text := []byte(strings.Repeat("The quick brown fox_jumps over the lazy dog's back; node.js, and so on. ", 200))
	a := testAnalyzer(b, "en")
	var toks []token
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		toks = a.tokens(toks[:0], text)
	}
}
