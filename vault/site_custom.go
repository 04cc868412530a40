package vault

import (
	"errors"

	"kb/gitstore"
	"kb/site"
)

// customDir is where a repository keeps what it adds to its site. No draft may
// touch it.
const customDir = ".kb/site/"

// mostCustom is how long each of its files may be, in bytes.
const mostCustom = 1 << 20

// siteCustom reads what the view's first repository adds to the site, as committed.
func (w *view) siteCustom() (c site.Custom, err error) {
	if len(w.bases) == 0 || w.bases[0].commit.IsZero() {
		return c, nil
	}
	b := w.bases[0]
	for name, to := range map[string]*[]byte{
		"custom.css": &c.Style, "head.html": &c.Head, "after-title.html": &c.AfterTitle, "footer.html": &c.Footer,
	} {
		f, err := b.repo.File(b.commit, customDir+name)
		if errors.Is(err, gitstore.ErrNotFound) {
			continue
		}
		if err != nil {
			return c, errorf(Internal, "%s%s: %w", customDir, name, err)
		}
		if *to, err = b.repo.Blob(f.Blob); err != nil {
			return c, errorf(Internal, "%s%s: %w", customDir, name, err)
		}
		if len(*to) > mostCustom {
			return c, errorf(Usage, "%s%s is longer than %d bytes", customDir, name, mostCustom)
		}
	}
	return c, nil
}
