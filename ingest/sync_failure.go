package ingest

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"kb/internal/fetch"
)

// The classes of failures: what each asks of a person.
const (
	ClassDenied      = "denied"       // 401, 403: the page wants to know who asks
	ClassGone        = "gone"         // 404, 410
	ClassLimited     = "rate_limited" // 429
	ClassServer      = "server_error" // 5xx
	ClassStatus      = "status"       // any other answer without the page
	ClassUnreachable = "unreachable"  // no answer, or none in time
	ClassRefused     = "refused"      // by us: private addresses, robots.txt, redirects, sizes
	ClassUnreadable  = "unreadable"   // an answer of which no note can be made
	ClassRejected    = "rejected"     // a note that the vault does not take
)

// classOf sorts an error.
func classOf(err error) string {
	var status *fetch.StatusError
	if errors.As(err, &status) {
		return classOfStatus(status)
	}
	for class, causes := range map[string][]error{
		ClassUnreachable: {fetch.ErrHost, fetch.ErrTimeout},
		ClassRefused:     {fetch.ErrPrivate, fetch.ErrRobots, fetch.ErrRedirects, fetch.ErrScheme, fetch.ErrTooLarge, fetch.ErrOffline, ErrNone},
	} {
		for _, cause := range causes {
			if errors.Is(err, cause) {
				return class
			}
		}
	}
	return ClassUnreadable
}

func classOfStatus(e *fetch.StatusError) string {
	switch {
	case e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden:
		return ClassDenied
	case e.Gone():
		return ClassGone
	case e.Code == http.StatusTooManyRequests:
		return ClassLimited
	case e.Code >= 500:
		return ClassServer
	}
	return ClassStatus
}

// mostFailures is how often in a row a host may be out of reach.
const mostFailures = 3

// patience is what is left for a host in this run.
type patience struct {
	over     string // why it is not asked any more
	failures int    // in a row, to answer at all
}

// fail notes why a page gave no document, and whether its host is left alone from
// now on.
func (s *Syncer) fail(h *patience, p *page, err error) error {
	class := classOf(err)
	s.result.Failed = append(s.result.Failed, SyncFailed{Path: p.notes[0].Path, URL: p.url, Class: class, Message: reasonOf(err)})
	var status *fetch.StatusError
	errors.As(err, &status)
	switch {
	case class == ClassLimited || status != nil && status.Code == http.StatusServiceUnavailable:
		h.over = fmt.Sprintf("its host answers %d: it is not asked again in this run", status.Code)
		if status.RetryAfter > 0 {
			return s.remember(Check{Source: p.host, Until: s.Now().Add(min(status.RetryAfter, longestWait))})
		}
	case class == ClassUnreachable:
		if h.failures++; h.failures == mostFailures {
			h.over = "its host cannot be reached: it is not asked again in this run"
		}
	default:
		h.failures = 0
	}
	if answer(class) {
		return s.remember(Check{Source: p.url, Asked: s.Now()})
	}
	return nil
}

// answer reports whether a failure tells as much as a page would: asking again the
// next day tells nothing new.
func answer(class string) bool {
	return class == ClassDenied || class == ClassGone || class == ClassStatus || class == ClassUnreadable
}

// longestWait bounds what a host may ask for.
const longestWait = 7 * 24 * time.Hour
