package convert

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

const rss = `<?xml version="1.0"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><title>News</title><link>https://example.org/</link>
<item><title>Older</title><link>/older</link><guid>a1</guid><pubDate>Mon, 01 Jan 2024 10:00:00 GMT</pubDate><description>&lt;p&gt;An &lt;b&gt;old&lt;/b&gt; one.&lt;/p&gt;</description></item>
<item><title>Newer</title><link>https://example.org/newer</link><guid>a2</guid><pubDate>Tue, 02 Jan 2024 10:00:00 GMT</pubDate><category>Retry Notes</category><content:encoded><![CDATA[<p>New.</p><script>x</script>]]></content:encoded></item>
<item><title>Newer again</title><guid>a2</guid></item>
<item><title>Hostile</title><link>javascript:alert(1)</link><description>Text.</description></item>
</channel></rss>`

const atomFeed = `<feed xmlns="http://www.w3.org/2005/Atom"><title>News</title>
<entry><id>tag:1</id><title>One</title><link href="https://example.org/1"/><updated>2024-01-02T10:00:00Z</updated><author><name>Ada</name></author><content type="html">&lt;p&gt;First.&lt;/p&gt;</content></entry>
</feed>`

func TestFeeds(t *testing.T) {
	docs, err := Convert(t.Context(), Input{Name: "feed.xml", Base: "https://example.org/feed.xml", Data: []byte(rss)})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range docs {
		if d.Type != "feed" || len(d.Key) != 16 {
			t.Errorf("type %q, key %q", d.Type, d.Key)
		}
		got = append(got, d.Title+"|"+strings.Join(d.Tags, ",")+"|"+strings.ReplaceAll(d.Body, "\n", "/"))
	}
	want := []string{"Newer|retry-notes|<https://example.org/newer>//New./", "Older||<https://example.org/older>//An **old** one./", "Hostile||Text./"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q, want %q", got, want)
	}
	docs, err = Convert(t.Context(), Input{Data: []byte(atomFeed)})
	if err != nil || len(docs) != 1 || docs[0].Title != "One" || docs[0].Authors[0] != "Ada" || docs[0].Created.Day() != 2 {
		t.Errorf("atom: got %+v, %v", docs, err)
	}
}

const jsonNews = `{"version": "https://jsonfeed.org/version/1.1", "title": "News", "home_page_url": "https://example.org/", "authors": [{"name": "Bo"}],
"items": [
 {"id": "1", "url": "/one", "title": "One", "content_html": "<p>An <b>old</b> one.</p><script>x</script>", "date_published": "2024-01-01T10:00:00Z", "tags": ["Retry Notes"]},
 {"id": 2, "external_url": "https://example.net/two", "content_text": "Plain <b>text</b>.\n\nTwo.", "date_modified": "2024-01-02T10:00:00+01:00", "authors": [{"name": "Ada"}], "author": {"name": "Ida"}},
 {"id": "3", "url": "javascript:alert(1)", "title": "Hostile", "summary": "Only a summary."},
 {"id": "1", "title": "One again", "content_text": "x"}
]}`

func TestJSONFeed(t *testing.T) {
	for _, media := range []string{"application/feed+json", "application/json", "text/html"} {
		docs, err := Convert(t.Context(), Input{Name: "feed", MediaType: media, Base: "https://example.org/feed.json", Data: []byte("\ufeff" + jsonNews)})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, d := range docs {
			got = append(got, d.Type+"|"+d.Title+"|"+strings.Join(d.Tags, ",")+"|"+strings.Join(d.Authors, ",")+"|"+strings.ReplaceAll(d.Body, "\n", "/"))
		}
		want := []string{
			`feed|https://example.net/two||Ada,Ida|<https://example.net/two>//Plain &lt;b&gt;text&lt;/b&gt;.//Two./`,
			"feed|One|retry-notes|Bo|<https://example.org/one>//An **old** one./",
			"feed|Hostile||Bo|Only a summary./",
		}
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", media, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for _, bad := range []string{`{"version": "https://jsonfeed.org/version/1.1"}`, `{"version": "https://jsonfeed.org/version/1.1", "items": [{}]}`, `{"version": "https://jsonfeed.org/version/1.1", "items": 3}`} {
		if docs, err := Convert(t.Context(), Input{Name: "feed.json", Data: []byte(bad)}); err == nil && strings.TrimSpace(docs[0].Body) != "" {
			t.Errorf("%s: got %+v", bad, docs)
		}
	}
}

// An entry is known by what identifies it, whatever else of it changes.
func TestFeedKeys(t *testing.T) {
	key := func(item string) string {
		docs, err := Convert(t.Context(), Input{Data: []byte("<rss version='2.0'><channel><item>" + item + "</item></channel></rss>")})
		if err != nil {
			t.Fatal(err)
		}
		return docs[0].Key
	}
	first := key("<guid>x</guid><title>A</title><description>1</description>")
	if second := key("<guid>x</guid><title>B</title><link>https://example.org/</link><description>2</description>"); second != first {
		t.Errorf("got %s after a change, want %s", second, first)
	}
	if key("<link>https://example.org/a</link><title>A</title>") == key("<link>https://example.org/b</link><title>A</title>") {
		t.Error("two links have one key")
	}
}

func TestFeedLimits(t *testing.T) {
	var b strings.Builder
	for i := range 80 {
		fmt.Fprintf(&b, "<item><guid>%d</guid><title>Entry %d</title><pubDate>Mon, 01 Jan 2024 10:%02d:00 GMT</pubDate><description>Text</description></item>", i, i, i%60)
	}
	docs, err := Convert(t.Context(), Input{Data: []byte("<rss version='2.0'><channel>" + b.String() + "</channel></rss>")})
	if err != nil || len(docs) != mostFeedEntries || docs[0].Title != "Entry 59" || len(docs[0].Notices) != 1 {
		t.Errorf("got %d entries, %v", len(docs), err)
	}
	for _, broken := range []string{"<rss version='2.0'><channel></channel></rss>", "<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>", "<rss><channel><item>"} {
		if docs, err := Convert(t.Context(), Input{Data: []byte(broken)}); err == nil || !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrNoText) {
			t.Errorf("%s: got %+v, %v", broken, docs, err)
		}
	}
	long := "<rss version='2.0'><channel><item><link>https://example.org/</link><description>" + strings.Repeat("long ", MaxBody/4) + "</description></item></channel></rss>"
	docs, err = Convert(t.Context(), Input{Data: []byte(long)})
	if err != nil || docs[0].Body != "<https://example.org/>\n" {
		t.Errorf("a long entry: %v", err)
	}
}

// Whatever a feed says, its entries are documents within bounds, each known by
// another key.
func FuzzFeed(f *testing.F) {
	for _, seed := range []string{rss, atomFeed, jsonNews, `{"version":"https://jsonfeed.org/version/1","items":[{"id":{},"content_html":"<p"}]}`, "<rss><channel><item/></channel></rss>", "<feed><entry/></feed>"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := sniff(Input{Data: data})
		if err != nil || !isFeed(s) {
			return
		}
		docs, err := convertFeed(t.Context(), s)
		if err != nil {
			return
		}
		keys := map[string]bool{}
		for _, d := range docs {
			if d.Key == "" || keys[d.Key] || len(d.Body) > MaxBody || strings.Contains(d.Body, "](javascript:") {
				t.Errorf("key %q, %d bytes: %.200q", d.Key, len(d.Body), d.Body)
			}
			keys[d.Key] = true
		}
		if len(docs) > mostFeedEntries {
			t.Errorf("%d documents", len(docs))
		}
	})
}
