package vault_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"kb/internal/vaulttest"
	"kb/vault"
)

// Whatever happens to a vault and to its site, a site that follows is, file for file,
// the one that is made from nothing.
func TestSiteFollowsVault(t *testing.T) {
	seeds := uint64(3)
	if os.Getenv("KB_LONG") != "" {
		seeds = 40
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newFollowed(t, seed)
			for step := range 30 {
				f.change()
				f.build(step)
			}
			if f.anew > f.builds*3/4 || f.anew < 3 {
				t.Errorf("%d of %d builds were of all notes", f.anew, f.builds)
			}
		})
	}
}

// A site of a work tree follows it, too, in the process that looks at it.
func TestSiteFollowsWorkTree(t *testing.T) {
	seeds := uint64(2)
	if os.Getenv("KB_LONG") != "" {
		seeds = 30
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newFollowed(t, seed+1000)
			f.stays = true
			edited := ""
			for step := range 30 {
				f.at = "worktree"
				switch f.r.IntN(16) {
				case 0:
					f.put(fmt.Sprintf("notes/new%d.md", step), f.text(step))
				case 1:
					f.remove(f.known())
				case 2:
					f.put(f.known(), f.text(f.r.IntN(30)))
				case 3:
					f.commit("work")
				case 4:
					f.now = f.now.AddDate(0, 0, 1)
				case 5:
					f.git("checkout", "--quiet", ".")
					f.reread()
				case 6:
					f.harm()
				case 7: // nothing
				default:
					if edited == "" || f.notes[edited] == "" || f.r.IntN(3) == 0 {
						edited = f.known()
					}
					f.put(edited, f.notes[edited]+"\n"+f.words()+"\n")
				}
				f.build(step)
			}
			if f.anew > f.builds*3/4 || f.anew < 3 {
				t.Errorf("%d of %d builds were of all notes", f.anew, f.builds)
			}
		})
	}
}

// followed is a vault that changes at random, and a site that follows it.
type followed struct {
	t     *testing.T
	r     *rand.Rand
	dir   string // of the vault
	out   string
	cache string
	notes map[string]string
	day   int
	log   []string
	at    string // what is built

	vault        *vault.Vault
	store        *vault.Store
	configured   bool // since it was opened
	stays        bool // in one process
	now          time.Time
	builds, anew int
}

const followedConfig = `
collections:
  - {name: notes, path: notes, writable: true, include: ["**/*.md"]}
  - {name: crew, path: crew, visibility: team}
visibility: {private: ["journal/**"]}
site: {title: Garden %d, related: never, exclude: ["hidden/**"]}
`

func newFollowed(t *testing.T, seed uint64) *followed {
	f := &followed{t: t, r: rand.New(rand.NewPCG(seed, 21)), dir: vaulttest.Repo(t, ""), out: filepath.Join(t.TempDir(), "out"), cache: t.TempDir(), notes: map[string]string{}, now: time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)}
	vaulttest.Write(t, f.dir, "kb.yaml", fmt.Sprintf(followedConfig, 0))
	vaulttest.Write(t, f.dir, "notes/pic.png", "a picture")
	vaulttest.Write(t, f.dir, "outside.txt", "no note")
	for i := range 30 {
		f.put(fmt.Sprintf("%s/n%d.md", []string{"notes", "notes/a", "notes/a/b", "notes", "crew", "notes", "notes/a", "notes/a/b", "notes/c", "notes/journal"}[i%10], i), f.text(i))
	}
	f.commit("first")
	t.Cleanup(f.close)
	f.build(-1)
	return f
}

func (f *followed) close() {
	if f.store == nil {
		return
	}
	if err := f.vault.Close(); err != nil {
		f.t.Error(err)
	}
	if err := f.store.Close(); err != nil {
		f.t.Error(err)
	}
	f.store = nil
}

// open opens the vault, at times in what might be another process.
func (f *followed) open() *vault.Vault {
	f.close()
	cfg, err := vault.LoadConfig(vault.Locate{Dir: f.dir, CacheDir: f.cache})
	if err != nil {
		f.t.Fatal(err)
	}
	f.store, err = vault.OpenStore(f.cache, func(format string, args ...any) {
		if message := fmt.Sprintf(format, args...); strings.Contains(message, "made of all notes") && strings.Contains(message, f.out) {
			f.anew++
			f.log = append(f.log, message)
		}
	})
	if err != nil {
		f.t.Fatal(err)
	}
	if f.vault, err = vault.Open(cfg, f.store, vault.Person); err != nil {
		f.t.Fatal(err)
	}
	return f.vault
}

func (f *followed) pick(s ...string) string { return s[f.r.IntN(len(s))] }

// text is a note that names others, some of them hidden.
func (f *followed) text(n int) string {
	var b strings.Builder
	if f.r.IntN(2) == 0 {
		fmt.Fprintf(&b, "---\ntags: [t%d, %s]\n%s---\n", n%4, f.pick("x", "t1/y"), f.pick("", "", "", "aliases: [other]\n", "visibility: team\n", "created: 2020-02-02\n", "updated: 2021-03-04\n", "lang: de\n", "superseded_by: n1\n"))
	}
	fmt.Fprintf(&b, "# Note %d\n\nIt is about otters, see [[n%d]] and [[n%d#Part]].\n\n%s\n\n## Part\n\n%s\n", n, f.r.IntN(30), f.r.IntN(30),
		f.pick("![[pic.png]]", "![[n3]]", "![[n4#Part]]", "[there](https://example.org/)", "words"), f.words())
	return b.String()
}

func (f *followed) words() string {
	words := make([]string, 5+f.r.IntN(20))
	for i := range words {
		words[i] = fmt.Sprintf("word%d", f.r.IntN(60))
	}
	return strings.Join(words, " ")
}

func (f *followed) put(path, text string) {
	f.log = append(f.log, fmt.Sprintf("write %s: %q", path, text))
	f.notes[path] = text
	vaulttest.Write(f.t, f.dir, path, text)
}

func (f *followed) known() string {
	all := slices.Sorted(maps.Keys(f.notes))
	return all[f.r.IntN(len(all))]
}

func (f *followed) remove(path string) {
	f.log = append(f.log, "remove "+path)
	delete(f.notes, path)
	if err := os.Remove(filepath.Join(f.dir, path)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *followed) commit(message string) {
	f.day += f.r.IntN(2)
	f.log = append(f.log, "commit "+message)
	vaulttest.Commit(f.t, f.dir, fmt.Sprintf("2024-%02d-%02d", 1+f.day/28, 1+f.day%28), message)
}

func (f *followed) git(args ...string) {
	f.log = append(f.log, strings.Join(args, " "))
	vaulttest.Git(f.t, f.dir, args...)
}

// editWord changes the text of a note and nothing else.
func (f *followed) editWord() {
	path := f.known()
	text := f.notes[path]
	switch f.r.IntN(4) {
	case 0:
		text += "\n" + f.words() + "\n"
	case 1:
		text = strings.Replace(text, "otters", "badgers and otters", 1)
	case 2:
		text = strings.Replace(text, "\n## Part", "\n## Another\n\nmore\n\n## Part", 1)
	default:
		text = strings.Replace(text, " word", " word9", 1+f.r.IntN(3))
	}
	f.put(path, text)
}

// change commits something: mostly words.
func (f *followed) change() {
	f.at = ""
	if f.r.IntN(3) > 0 {
		for range 1 + f.r.IntN(2) {
			f.editWord()
			f.commit("words")
		}
		return
	}
	changes := []func(){
		func() { f.put(fmt.Sprintf("notes/new%d.md", f.r.IntN(50)), f.text(f.r.IntN(30))) },
		func() { f.remove(f.known()) },
		func() {
			from := f.known()
			text := f.notes[from]
			f.remove(from)
			f.put(strings.TrimSuffix(from, ".md")+"-moved.md", text)
		},
		func() { f.put(f.known(), f.text(f.r.IntN(30))) },
		func() { f.put(f.known(), f.notes[f.known()]) },
		f.hide, f.hide, f.hide,
		func() {
			f.put(f.known(), f.pick("---\npublish: false\n---\n", "---\nvisibility: private\n---\n", "---\nvisibility: team\n---\n", "---\naliases: [zoo, ark]\n---\n", "---\ntags: [fresh/tag]\n---\n", "---\ntitle: Another\n---\n", "---\nupdated: 2023-05-05\n---\n")+f.words())
		},
		func() { vaulttest.Write(f.t, f.dir, "notes/pic.png", f.words()) },
		func() { vaulttest.Write(f.t, f.dir, "notes/pic2.png", f.words()) },
		func() { vaulttest.Write(f.t, f.dir, "outside.txt", f.words()) },
		func() {
			vaulttest.Write(f.t, f.dir, "kb.yaml", fmt.Sprintf(followedConfig, f.r.IntN(4)))
			f.configured = true
		},
		func() { vaulttest.Write(f.t, f.dir, ".kb/site/footer.html", "<p>"+f.words()+"</p>") },
		func() { vaulttest.Write(f.t, f.dir, ".kb/site/custom.css", "body{}/*"+f.words()+"*/") },
		func() { f.git("update-index", "--chmod=+x", f.known()) },
		f.branch, f.branch, f.branch, f.revert, f.back, f.harm, f.harm, f.busy, f.busy,
	}
	changes[f.r.IntN(len(changes))]()
	f.commit("something")
}

// hide keeps a note from readers by a property that nothing else shows, if it has none.
func (f *followed) hide() {
	path := f.known()
	if text := f.notes[path]; !strings.HasPrefix(text, "---") {
		f.put(path, f.pick("---\nvisibility: team\n---\n", "---\nvisibility: private\n---\n", "---\ndraft: true\n---\n")+text)
	}
}

// branch merges a branch on which a note was edited, as others were meanwhile.
func (f *followed) branch() {
	f.git("switch", "--quiet", "--create", "side")
	f.editWord()
	f.commit("on a branch")
	f.git("switch", "--quiet", "main")
	if f.r.IntN(2) == 0 {
		vaulttest.Write(f.t, f.dir, "outside.txt", f.words())
		f.commit("meanwhile")
	}
	f.git("merge", "--quiet", "--no-ff", "--no-edit", "side")
	f.git("branch", "--delete", "side")
}

// revert takes back the last commit, which was built, or has a commit take it back
// that one build has not seen.
func (f *followed) revert() {
	f.editWord()
	f.commit("to be taken back")
	if f.r.IntN(2) == 0 {
		f.build(-2)
	}
	f.git("revert", "--no-edit", "HEAD")
	f.reread()
}

// back goes back in history, or builds an earlier commit.
func (f *followed) back() {
	if f.r.IntN(2) == 0 {
		f.at = "HEAD~2"
		return
	}
	f.git("reset", "--quiet", "--hard", "HEAD~1")
	f.reread()
}

// busy gives a note that was elsewhere more versions than its page shows, one part of
// them before a build.
func (f *followed) busy() {
	from := f.known()
	path, text := strings.TrimSuffix(from, ".md")+"-busy.md", f.notes[from]
	f.remove(from)
	f.put(path, text)
	f.commit("busy")
	for n := range 30 {
		f.put(path, f.notes[path]+fmt.Sprintf("\nbusy %d\n", n))
		f.commit("busy")
		if n == 12 || n > 12 && f.r.IntN(6) == 0 {
			f.build(-3)
		}
	}
}

func (f *followed) reread() {
	clear(f.notes)
	for _, path := range strings.Split(vaulttest.Git(f.t, f.dir, "ls-files", "--cached", "--others", "--exclude-standard", "*.md"), "\n") {
		raw, err := os.ReadFile(filepath.Join(f.dir, path))
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was removed, and that is not committed
		}
		if err != nil {
			f.t.Fatal(err)
		}
		f.notes[path] = string(raw)
	}
}

// harm changes the site by hand, or leaves it as a build that was killed does.
func (f *followed) harm() {
	there := siteFilesIn(f.t, f.out)
	delete(there, "manifest.json") // without it, it is no site
	files := slices.Sorted(maps.Keys(there))
	name := files[f.r.IntN(len(files))]
	f.log = append(f.log, "harm "+name)
	file := filepath.Join(f.out, name)
	var err error
	switch f.r.IntN(3) {
	case 0:
		err = os.Remove(file)
	case 1:
		err = os.WriteFile(file, []byte("changed by hand"), 0o644)
	default:
		err = os.WriteFile(filepath.Join(f.out, ".kb-unfinished"), nil, 0o644)
	}
	if err != nil {
		f.t.Fatal(err)
	}
}

// build has the site follow, and makes the same from nothing beside it.
func (f *followed) build(step int) {
	f.t.Helper()
	v := f.vault
	if v == nil || f.r.IntN(3) == 0 && !f.stays || f.configured {
		v, f.configured = f.open(), false
	}
	v.SetNow(f.now)
	p := vault.SiteBuildParams{Out: f.out, Visibility: "public"}
	p.At = f.at
	f.builds++
	got, err := v.SiteBuild(context.Background(), p)
	if err != nil {
		f.t.Fatalf("step %d: %v\n%s", step, err, strings.Join(f.log, "\n"))
	}
	p.Out = filepath.Join(f.t.TempDir(), "fresh")
	want, err := v.SiteBuild(context.Background(), p)
	if err != nil {
		f.t.Fatal(err)
	}
	if diff := cmp.Diff(siteFilesIn(f.t, p.Out), siteFilesIn(f.t, f.out)); diff != "" {
		f.t.Fatalf("step %d (-anew +followed): %.4000s\n%s", step, diff, strings.Join(f.log, "\n"))
	}
	if got.Pages != want.Pages || got.Files != want.Files || got.Left != want.Left {
		f.t.Fatalf("step %d: told %+v, want %+v", step, got, want)
	}
}

func siteFilesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		rel, _ := filepath.Rel(dir, path)
		files[filepath.ToSlash(rel)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
