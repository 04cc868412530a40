package tui

import (
	"context"
	"errors"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
)

// screen is the state of the whole, changed by one message after another.
type screen struct {
	ctx   context.Context
	desk  Desk
	clock func() time.Time

	width, height int
	method        measure

	list   list
	pane   *pane // of the selected draft; nil for none
	read   bool  // the list has been read
	stale  bool  // the diff is to be read again
	onDiff bool  // the right side has the keys
	mode   mode
	prompt prompt
	status status
	busy   bool // an action is on its way
	leave  bool // after it, the screen closes
	cancel context.CancelFunc
}

// mode says what keys mean.
type mode byte

const (
	browsing mode = iota
	confirming
	rejecting
	filtering
	helping
)

// status is what the last action did.
type status struct {
	text  string
	style style
}

// The messages that reading and acting end with.
type (
	draftsMsg struct {
		drafts []Draft
		err    error
	}
	diffMsg struct {
		draft Draft
		diff  *Diff
		err   error
	}
	doneMsg struct {
		text string
		err  error
	}
)

func newScreen(ctx context.Context, desk Desk, clock func() time.Time) *screen {
	return &screen{ctx: ctx, desk: desk, clock: clock, width: 80, height: 24, method: ansi.WcWidth}
}

// Init reads the list.
func (s *screen) Init() tea.Cmd { return s.reload }

func (s *screen) reload() tea.Msg {
	drafts, err := s.desk.Drafts(s.ctx)
	return draftsMsg{drafts, err}
}

// Update takes a message.
func (s *screen) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		s.width, s.height = msg.Width, msg.Height
		s.layOut()
	case tea.ModeReportMsg:
		s.setMethod(msg)
	case tea.KeyPressMsg:
		return s, s.key(msg.String(), msg.Text)
	case tea.PasteMsg:
		return s, s.paste(msg.Content)
	case draftsMsg:
		return s, s.listed(msg)
	case diffMsg:
		return s, s.opened(msg)
	case doneMsg:
		return s, s.done(msg)
	}
	return s, nil
}

// setMethod counts columns as the renderer does from now on: by what is seen as
// a character, if the terminal does.
func (s *screen) setMethod(msg tea.ModeReportMsg) {
	known := msg.Value == ansi.ModeReset || msg.Value == ansi.ModeSet || msg.Value == ansi.ModePermanentlySet
	if msg.Mode == ansi.ModeUnicodeCore && known {
		s.method = ansi.GraphemeWidth
		s.layOut()
	}
}

// listed takes the list that was read.
func (s *screen) listed(msg draftsMsg) tea.Cmd {
	s.read = true
	if msg.err != nil {
		s.say(bad, "the drafts cannot be read: "+msg.err.Error())
		return nil
	}
	s.list.fill(msg.drafts)
	return s.open()
}

// open shows the selected draft, unless it is shown at that commit already.
func (s *screen) open() tea.Cmd {
	d := s.list.current()
	if d == nil {
		s.pane, s.onDiff = nil, false
		return nil
	}
	if p := s.pane; p != nil && p.draft.Name == d.Name && p.draft.Commit == d.Commit && p.err == nil && !s.stale {
		p.update(*d)
		s.layOut()
		return nil
	}
	s.pane, s.onDiff, s.stale = newPane(*d, s.clock()), false, false
	s.layOut()
	return s.readDiff(*d)
}

// readDiff reads a draft, and stops reading another.
func (s *screen) readDiff(d Draft) tea.Cmd {
	if s.cancel != nil {
		s.cancel()
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.cancel = cancel
	return func() tea.Msg {
		defer cancel()
		diff, err := s.desk.Diff(ctx, d)
		if ctx.Err() != nil {
			return nil // another is shown by now
		}
		return diffMsg{d, diff, err}
	}
}

// opened takes the diff of a draft, if it is still the one to show. Where the
// draft moved since the list was read, the list is read again.
func (s *screen) opened(msg diffMsg) tea.Cmd {
	if s.pane == nil || s.pane.draft.Name != msg.draft.Name || s.pane.draft.Commit != msg.draft.Commit {
		return nil
	}
	s.pane.fill(msg.diff, msg.err)
	s.layOut()
	if errors.Is(msg.err, ErrMoved) {
		return s.reload
	}
	return nil
}

// act does something to a draft while the screen waits.
func (s *screen) act(what string, do func(ctx context.Context) (string, error)) tea.Cmd {
	s.busy, s.mode = true, browsing
	s.say(dim, what+" …")
	return func() tea.Msg {
		text, err := do(s.ctx)
		return doneMsg{text, err}
	}
}

// done says what an action did, and reads the list again.
func (s *screen) done(msg doneMsg) tea.Cmd {
	s.busy = false
	switch {
	case errors.Is(msg.err, ErrMoved):
		s.say(warn, "the draft moved meanwhile: nothing was done; this is what it is now")
	case msg.err != nil:
		s.say(bad, msg.err.Error())
	default:
		s.say(good, msg.text)
		s.stale = true
	}
	if s.leave {
		return tea.Quit
	}
	return s.reload
}

func (s *screen) say(st style, text string) {
	s.status = status{text, st}
	s.layOut() // it may take more rows, or less
}

// merge publishes what is chosen of the draft as it is shown.
func (s *screen) merge() tea.Cmd {
	d, part := s.pane.draft, s.pane.choice.pieces()
	return s.act("merging "+d.Name, func(ctx context.Context) (string, error) {
		return s.desk.Merge(ctx, d, part)
	})
}

// reject closes the draft that is shown.
func (s *screen) reject(reason string) tea.Cmd {
	d := s.pane.draft
	return s.act("rejecting "+d.Name, func(ctx context.Context) (string, error) {
		return s.desk.Reject(ctx, d, reason)
	})
}

// question asks whether to merge what is chosen.
func (s *screen) question() string {
	d, c := s.pane.draft, s.pane.choice
	n := c.size()
	what := fmt.Sprintf("merge %s into %s: %s, +%d -%d", d.Name, d.Into, plural(n.notes, "note"), n.added, n.removed)
	if !c.all() {
		what = fmt.Sprintf("merge %d of %s of %s into %s, +%d -%d; the rest stays a draft",
			n.notes, plural(len(c.diff.Notes), "note"), d.Name, d.Into, n.added, n.removed)
	}
	return what
}
