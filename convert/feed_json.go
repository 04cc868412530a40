package convert

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
)

// jsonFeed is what is read of a JSON Feed, https://www.jsonfeed.org/version/1.1/.
type jsonFeed struct {
	Version string         `json:"version"`
	Home    string         `json:"home_page_url"`
	Authors []feedAuthor   `json:"authors"`
	Author  feedAuthor     `json:"author"` // of version 1
	Items   []jsonFeedItem `json:"items"`
}

type feedAuthor struct {
	Name string `json:"name"`
}

type jsonFeedItem struct {
	ID        json.RawMessage `json:"id"` // text; some write a number
	URL       string          `json:"url"`
	External  string          `json:"external_url"`
	Title     string          `json:"title"`
	HTML      string          `json:"content_html"`
	Text      string          `json:"content_text"`
	Summary   string          `json:"summary"`
	Published string          `json:"date_published"`
	Modified  string          `json:"date_modified"`
	Authors   []feedAuthor    `json:"authors"`
	Author    feedAuthor      `json:"author"`
	Tags      []string        `json:"tags"`
}

const jsonFeedVersion = "https://jsonfeed.org/version/1"

func isJSONFeed(s *sniffed) bool {
	if s.text == "" || !strings.HasPrefix(strings.TrimLeft(s.text, "\ufeff \t\r\n"), "{") || !bytes.Contains(s.Data, []byte("jsonfeed.org")) {
		return false
	}
	var head struct {
		Version string `json:"version"`
	}
	return json.Unmarshal([]byte(strings.TrimPrefix(s.text, "\ufeff")), &head) == nil && strings.HasPrefix(head.Version, jsonFeedVersion)
}

// parseJSONFeed reads a JSON Feed as other feeds are read.
func parseJSONFeed(text string) (*gofeed.Feed, error) {
	var in jsonFeed
	if err := json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &in); err != nil {
		return nil, fmt.Errorf("%w: the feed cannot be read: %w", ErrDamaged, err)
	}
	out := &gofeed.Feed{Link: in.Home}
	for i := range in.Items {
		item := in.Items[i].item()
		if len(item.Authors) == 0 {
			item.Authors = people(in.Authors, in.Author)
		}
		out.Items = append(out.Items, item)
	}
	return out, nil
}

func (x *jsonFeedItem) item() *gofeed.Item {
	item := &gofeed.Item{GUID: strings.Trim(string(x.ID), `"`), Link: cmp.Or(x.URL, x.External), Title: x.Title, Published: x.Published,
		Content: x.HTML, Description: paragraphs(cmp.Or(x.Text, x.Summary)), Categories: x.Tags, Authors: people(x.Authors, x.Author)}
	var id string
	if json.Unmarshal(x.ID, &id) == nil {
		item.GUID = id
	}
	item.PublishedParsed, item.UpdatedParsed = feedDate(x.Published), feedDate(x.Modified)
	return item
}

func people(list []feedAuthor, one feedAuthor) (out []*gofeed.Person) {
	for _, a := range append(list, one) {
		if a.Name != "" {
			out = append(out, &gofeed.Person{Name: a.Name})
		}
	}
	return out
}

func feedDate(s string) *time.Time {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return &at
	}
	return nil
}

// paragraphs is plain text as HTML.
func paragraphs(text string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n") {
		b.WriteString("<p>" + strings.ReplaceAll(html.EscapeString(part), "\n", "<br>") + "</p>")
	}
	return b.String()
}
