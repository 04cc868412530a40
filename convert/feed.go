package convert

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	"golang.org/x/net/html/atom"
)

// mostFeedEntries is how many entries of a feed become documents, the newest.
const mostFeedEntries = 50

func isFeed(s *sniffed) bool {
	if isJSONFeed(s) {
		return true
	}
	if s.text == "" || s.seen == "text/html" || !strings.HasPrefix(strings.TrimLeft(s.text, "\ufeff \t\r\n"), "<") {
		return false
	}
	kind := gofeed.DetectFeedType(bytes.NewReader(s.Data))
	return kind == gofeed.FeedTypeAtom || kind == gofeed.FeedTypeRSS
}

// convertFeed makes a document of each entry of an RSS, Atom or JSON feed. Its key is
// made of what the feed identifies the entry by, so that an entry that is published
// again is the same document.
func convertFeed(ctx context.Context, s *sniffed) ([]Doc, error) {
	feed, err := parseFeed(s)
	if err != nil {
		return nil, err
	}
	base, err := url.Parse(cmp.Or(s.Base, feed.Link))
	if err != nil || !base.IsAbs() {
		base = nil
	}
	slices.SortStableFunc(feed.Items, func(a, b *gofeed.Item) int { return published(b).Compare(published(a)) })
	var docs []Doc
	keys := map[string]bool{}
	for _, item := range feed.Items {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		key := entryKey(item)
		if keys[key] || len(docs) == mostFeedEntries {
			continue
		}
		keys[key] = true
		d, err := entry(item, base)
		if err != nil {
			return nil, err
		}
		d.Key = key
		docs = append(docs, d)
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("%w: the feed has no entries", ErrNoText)
	}
	if all := len(feed.Items); all > mostFeedEntries {
		docs[0].Notices = append(docs[0].Notices, fmt.Sprintf("the feed has %d entries: the newest %d are taken", all, mostFeedEntries))
	}
	return docs, nil
}

func parseFeed(s *sniffed) (*gofeed.Feed, error) {
	if isJSONFeed(s) {
		return parseJSONFeed(s.text)
	}
	feed, err := gofeed.NewParser().Parse(bytes.NewReader(s.Data))
	if err != nil {
		return nil, fmt.Errorf("%w: the feed cannot be read: %w", ErrDamaged, err)
	}
	return feed, nil
}

// published is when an entry was, or else changed; the zero time when it does not
// say.
func published(item *gofeed.Item) time.Time {
	for _, at := range []*time.Time{item.PublishedParsed, item.UpdatedParsed} {
		if at != nil {
			return *at
		}
	}
	return time.Time{}
}

// entryKey names an entry by its id, else its link, else its title and date.
func entryKey(item *gofeed.Item) string {
	id := cmp.Or(strings.TrimSpace(item.GUID), strings.TrimSpace(item.Link), item.Title+"\n"+item.Published)
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:8])
}

// entry makes a document of one entry: the link to its page, and what the feed
// has of it.
func entry(item *gofeed.Item, base *url.URL) (Doc, error) {
	d := Doc{Title: item.Title, Created: published(item)}
	for _, a := range item.Authors {
		if a != nil {
			d.Authors = append(d.Authors, a.Name)
		}
	}
	d.Tags = keywords(strings.Join(item.Categories, ","))
	root, err := parseHTML(cmp.Or(item.Content, item.Description))
	if err != nil {
		return d, err
	}
	prepare(root)
	if err := writeHTML(&d, find(root, atom.Body), base, nil); err != nil {
		return d, err
	}
	if len(d.Body) > MaxBody*9/10 {
		d.Body = ""
		d.Notices = append(d.Notices, "the entry is too long for a note: it has the link alone")
	}
	if link := entryLink(item.Link, base); link != "" {
		d.Body = "<" + link + ">\n\n" + d.Body
		d.Title = cmp.Or(d.Title, link)
	}
	return d, nil
}

// entryLink is the address of an entry's page, "" where it is none of the web.
func entryLink(link string, base *url.URL) string {
	u, err := url.Parse(strings.TrimSpace(link))
	if err == nil && base != nil {
		u = base.ResolveReference(u)
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}
