package vault

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What mentions the visibility and cannot be read as saying it means private; what
// only speaks of it does not.
func TestReadClaim(t *testing.T) {
	closed := &claim{Level: Private}
	nobody := &claim{Level: Private, Owners: []string{""}}
	for src, want := range map[string]*claim{
		"---\nvisibility: private\n---\nx":                                      closed,
		"\n---\nvisibility: private\n---\nx":                                    closed,
		"\n---\nvisibility: public\n---\nx":                                     closed,
		" \r\n\r\n---\r\nvisibility: private\r\n---\r\nx":                       closed,
		"\ufeff---\nvisibility: private\n---\nx":                                closed,
		"\ufeff\ufeff---\nvisibility: private\n---\nx":                          closed,
		"\ufeff\n---\nvisibility: private\n---\nx":                              closed,
		"\u200b---\nvisibility: private\n---\nx":                                closed,
		" ---\nvisibility: private\n---\nx":                                     closed,
		"\n+++\nvisibility = \"private\"\n+++\nx":                               closed,
		"--- # properties\nvisibility: private\n---\nx":                         closed,
		"\nvisibility:: private\n\nx":                                           closed,
		"title: x\nvisibility: private\n\nx":                                    closed,
		"{\n\"visibility\": \"private\"\n}\nx":                                  closed,
		"---\nbase: &b {visibility: private}\n<<: *b\n---\nx":                   closed,
		"---\nbase: &b\n  visibility: private\n<<: [*b]\n---\nx":                closed,
		"---\n<<: {visibility: private}\n---\nx":                                closed,
		"---\nkey: &k visibility\n*k : private\n---\nx":                         closed,
		"---\nvisibility: private\n: [x\n---\nx":                                {Level: Private, Withheld: true},
		"---\nbase: &b {visibility: private, owner: ada}\n<<: *b\n---\nx":       nobody,
		"\n---\nvisibility: private\nowner: ada\n---\nx":                        nobody,
		"---\nvisibility: private\nowner: {x: ada}\n---\nx":                     nobody,
		"---\nvisibility: private\nowner: [{x: ada}]\n---\nx":                   nobody,
		"---\nvisibility: private\nowner: [ada]\n---\nx":                        {Level: Private, Owners: []string{"ada"}},
		"---\nvisibility: private\nowner:\n---\nx":                              closed,
		"---\nvisibility:\n---\nx":                                              nil,
		"---\ntitle: Visibility\ndescription: 'Of visibility: a study'\n---\nx": nil,
		"---\ntitle: x\n---\nvisibility: private\n":                             nil,
		"# Visibility\n\n```yaml\nvisibility: private\n```\n":                   nil,
		"\n---\n\nAn essay on visibility.\n\n---\n":                             nil,
		"---\ntitle: R&D\ntags: [visibility]\n---\nx":                           nil,
		"Visibility matters.\nvisibility: private\n":                            nil,
		"---\npublish: false\n---\nx":                                           {Withheld: true},
		"---\nPublish: \"No\"\n---\nx":                                          {Withheld: true},
		"---\ndraft: 1\n---\nx":                                                 {Withheld: true},
		"---\ndraft: true\ntags: [a\n---\nx":                                    {Withheld: true},
		"---\ndraft: false\ndraft: true\n---\nx":                                {Withheld: true},
		"+++\ntitle = \"x\"\ndraft = true\n+++\nx":                              {Withheld: true},
		"{\n  \"draft\": true\n}\n\nx":                                          {Withheld: true},
		"\n---\npublish: false\n---\nx":                                         {Withheld: true},
		"\ufeff\n---\ntitle: x\ndraft: yes\n---\nx":                             {Withheld: true},
		"draft: true\nvisibility: private\n\nx":                                 {Level: Private, Withheld: true},
		"---\ndraft: false\npublish: true\n---\nx":                              nil,
		"---\ntitle: x\n---\ndraft: true\n":                                     nil,
		"Draft: on the nature of notes\n\ndraft: true\n":                        nil,
		"# Hugo\n\n+++\ndraft = true\n+++\n":                                    nil,
	} {
		if diff := cmp.Diff(want, readClaim([]byte(src)), cmp.AllowUnexported(claim{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", src, diff)
		}
	}
}
