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
		"Publish: how we do it\n\nx":                                            nil,
		"{{header}}\nDraft: it is what it is.\n":                                nil,
	} {
		if diff := cmp.Diff(want, readClaim([]byte(src)), cmp.AllowUnexported(claim{})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", src, diff)
		}
	}
}

// Properties that keep a note from being published: what is not plainly said to be
// published, or plainly no draft, wherever it stands and in whatever format.
func TestWithheld(t *testing.T) {
	for _, properties := range []string{
		"publish: false", "publish: n", "publish: nope", "publish: never", "publish: 否", "publish: 2099-01-01", "publish: 2",
		"publish: \"\"", "publish: null", "publish: ~", "publish:", "publish: []", "publish: {web: true}", "publish:\n  - false", "publish: [true, false]",
		"publish: |\n  false", "publish: !!bool false", "publish: &p no", "? publish\n: false", "PUBLISH: off", "\"publish \": false", "publish:: false",
		"published: false", "Published: \"no\"", "published: [false]", "published: {web: off}",
		"draft: y", "draft: true", "draft: maybe", "draft: \"\"", "draft: []", "draft:\n  - true", "draft: {is: false}", "draft: 否",
		"<<: {publish: false}", "<<: {draft: true}", "title: x\n<<: {draft: true}", "<<: [{publish: no}]", "base: &b {draft: true}\n<<: *b", "base: &b\n  publish: false\n<<: [*b]",
		"meta: {publish: false}", "kb: {draft: true}", "site:\n  publish: nope", "sites: [{name: a, publish: false}]", "kb: {<<: {draft: true}}", "kb: {<<: [{draft: true}]}", "kb.draft: true",
		"key: &k publish\n*k : false", "key: &k draft\nz: {*k : true}", "publish: true\nkb: {draft: true}", "publish: true\nPublish: false", "publish: false\npublish: true",
	} {
		for _, src := range []string{"---\n" + properties + "\n---\nx", "\n---\ntitle: x\n" + properties + "\n---\nx", "\ufeff\u200b---\n" + properties + "\n---\nx"} {
			if !readClaim([]byte(src)).withheld() {
				t.Errorf("published: %q", src)
			}
		}
	}
	for _, src := range []string{
		"+++\ntitle = \"x\"\n[kb]\ndraft = true\n+++\n", "+++\nsite.publish = false\n+++\n", "\n+++\nsite.publish = 'never'\n+++\n",
		"{\"title\": \"x\", \"draft\": true}\n\nx", "{\"title\": \"x\",\n\"publish\": \"not yet\"\n}\nx", ";;;\n\"published\": false\n;;;\nx", "publish:: nope\n\nx", "publish: never\n\nx",
	} {
		if !readClaim([]byte(src)).withheld() {
			t.Errorf("published: %q", src)
		}
	}
}

// Properties that let a note be published.
func TestNotWithheld(t *testing.T) {
	for _, properties := range []string{
		"publish: true", "publish: Yes", "publish: on", "publish: 1", "publish: y", "publish: \"TRUE\"", "publish: [true]", "publish:\n  - true",
		"draft: false", "draft: No", "draft: off", "draft: 0", "draft: n", "draft: \"false\"", "draft:", "draft: null", "draft: [false]",
		"published: true", "published:", "published: 2019-05-01", "published: O'Reilly, 2019", "published: [2019]",
		"status: draft", "tags: [draft, publish]", "publisher: no", "drafts: true", "<<: {publish: true}", "kb: {draft: false, publish: true}", "title: 'Draft: a study of what to publish'",
	} {
		if src := "---\ntitle: x\n" + properties + "\n---\nx"; readClaim([]byte(src)).withheld() {
			t.Errorf("kept out: %q", src)
		}
	}
}
