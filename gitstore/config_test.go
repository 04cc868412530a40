package gitstore

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSettingsAgreeWithGit compares with `git config --list`, for what git
// writes itself.
func TestSettingsAgreeWithGit(t *testing.T) {
	file := filepath.Join(tempDir(t), "config")
	for _, text := range []string{
		"", "# only a comment", "[core]\n\tbare = true\n", "[CORE]\nBare=TRUE\n", "[a]\nk=v ; c\n k2 = \"v ; x\" # c\n",
		"[a \"Sub.x\"]\nk = 1\n[a \"q\\\"\\\\\"]\nk=3", "[a]\nl = \\t\\\"x\\n\n",
		"[a]\r\nk = v\r\nl=w\r\n", "[a]\nk =\nl = \n", "[a]\nk = \"  x  \"  y  \nl=\" \"\n", "\ufeff[a]\nk=v\n",
		"[a]\nk = x\"y\"z\n", "[a]\nk = a   b \n", "[a]\nk=1\n[b]\nk=2\n[b]\nk=3\n",
		"[user]\n\tname = Jürgen O'Neil\n\temail = j@x.org\n[branch \"a b/ü\"]\n\tmerge = refs/heads/x\n",
		"[a", "[a]\nk = \"x\n", "[a]\n1_k = v", "[a]\nk = \\q\n", "[a]\nk v\n", "[a \"x]\nk=v", "[]\nk=v",
	} {
		write(t, filepath.Dir(file), "config", text)
		list, err := parseSettings([]byte(text))
		cmd := gitCommand(filepath.Dir(file), "config", "--file", file, "--no-includes", "--list", "-z")
		out, gitErr := cmd.Output()
		if (err != nil) != (gitErr != nil) {
			t.Errorf("%q: ours %v, git %v", text, err, gitErr)
			continue
		}
		var want, got []string
		for item := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
			if item != "" {
				name, value, ok := strings.Cut(item, "\n")
				if !ok {
					value = "true"
				}
				want = append(want, name+"="+value)
			}
		}
		for _, s := range list {
			name := strings.TrimPrefix(s.section+"."+s.key, ".")
			if s.sub != "" {
				name = s.section + "." + s.sub + "." + s.key
			}
			got = append(got, name+"="+s.value)
		}
		if diff := cmp.Diff(want, got); diff != "" && err == nil {
			t.Errorf("%q (-git +ours):\n%s", text, diff)
		}
	}
}

func FuzzSettings(f *testing.F) {
	f.Add("[core]\n\tbare = true ; x\n\tworktree = \"a\\tb\"\n[remote \"o\\\"\"]\n\tpromisor\n")
	f.Add("[a]\nk\n[b]k=v\n[a.b]\n")
	f.Add("[extensions]\nobjectFormat = sha1 \\\n x\n")
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseSettings([]byte(text))
		for _, s := range list {
			if s.key == "" || err != nil {
				t.Errorf("%+v, %v", s, err)
			}
		}
	})
}
