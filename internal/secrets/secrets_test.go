package secrets

import (
	"strings"
	"testing"
)

// The secrets are put together here, so that this file has none.
func TestFind(t *testing.T) {
	hex := "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
	base := "Zq3vR8xT1mN5kL0wPy7sBd2gHf4jCu6e9aXo"
	tests := []struct{ name, text, want string }{
		{"github", "token is ghp" + "_" + base + " here", "a GitHub token"},
		{"aws", "AKIA" + "QYLPMN5HFIQR7XYA", "an AWS access key"},
		{"aws, as in its manual", "AKIA" + "IOSFODNN7EXAMPLE", ""},
		{"google", "key=AIza" + "SyB-" + base[:31] + "\n", "a Google API key"},
		{"stripe", "sk" + "_live_" + base, "a Stripe key"},
		{"private key", "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat(base+"\n", 4) + "-----END RSA PRIVATE KEY-----", "a private key"},
		{"web token", "Bearer ey" + "JhbGciOiJIUzI1NiIsInR5cCI6.ey" + "JzdWIiOiJhZGEiLCJpYXQiOjE1MTY." + base[:30], "a JSON web token"},
		{"in a URL", "postgres" + "://ada:p4ssw0rd9x@db.internal/x", "a password in a URL"},
		{"a placeholder in a URL", "postgres://user:password@localhost/x", ""},
		{"assigned", "api_key: " + base[:30], "a password, key or token"},
		{"assigned in JSON", `"secret": "` + base[:24] + `"`, "a password, key or token"},
		{"a placeholder", "api_key: your-api-key-goes-here-1", ""},
		{"a variable", "token=$GITHUB_TOKEN", ""},
		{"a word", "password: correcthorsebatterystaple", ""},
		{"a commit", "the commit " + hex + " did it", ""},
		{"a citation", "kb://docs@" + hex + "/guides/tokens.md#token", ""},
		{"prose", "A token: what a tokenizer makes. The secret of success is sleep.", ""},
	}
	for _, test := range tests {
		var got []string
		for _, f := range Find([]byte(test.text)) {
			got = append(got, f.What)
			if len(f.Hint) > 12 {
				t.Errorf("%s: the hint %q gives too much away", test.name, f.Hint)
			}
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: %q in %q, want %q", test.name, got, test.text, test.want)
		}
	}
}

// Offsets are in order, and one place is reported once.
func TestOrder(t *testing.T) {
	token := "ghp" + "_" + "Zq3vR8xT1mN5kL0wPy7sBd2gHf4jCu6e9aXo"
	found := Find([]byte("token: " + token + "\n\nand " + "AKIA" + "QYLPMN5HFIQR7XYA"))
	if len(found) != 2 || found[0].Offset != 7 || found[0].What != "a GitHub token" {
		t.Errorf("%+v", found)
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("token: x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, s := range Find(text) {
			if s.Offset < 0 || s.Offset >= len(text) {
				t.Fatalf("%+v in %q", s, text)
			}
		}
	})
}
