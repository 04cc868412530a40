package tui

import (
	tea "charm.land/bubbletea/v2"
)

// key takes a key in the mode that the screen is in.
func (s *screen) key(name, text string) tea.Cmd {
	if name == "ctrl+c" {
		return s.quit()
	}
	switch s.mode {
	case helping:
		s.mode = browsing
		return nil
	case confirming:
		return s.confirmKey(name)
	case rejecting:
		return s.reasonKey(name, text)
	case filtering:
		return s.filterKey(name, text)
	}
	return s.browseKey(name)
}

// quit closes the screen, after the action that is on its way.
func (s *screen) quit() tea.Cmd {
	if s.busy {
		s.leave = true
		s.status.text += " (then the screen closes)"
		return nil
	}
	return tea.Quit
}

// browseKey takes the keys that mean the same on both sides.
func (s *screen) browseKey(name string) tea.Cmd {
	if !s.busy {
		s.say(plain, "") // what was said is read
	}
	switch name {
	case "q":
		return s.quit()
	case "ctrl+z":
		return tea.Suspend
	case "?":
		s.mode = helping
	case "/":
		s.mode, s.prompt = filtering, prompt{before: s.list.filter}
	case "R", "ctrl+r":
		s.stale = true
		return s.reload
	case "tab":
		s.focus(!s.onDiff)
	case "m":
		s.askMerge()
	case "r":
		s.askReason()
	case "n":
		s.seek(1, itemNote)
	case "p", "N":
		s.seek(-1, itemNote)
	case "]", "J":
		s.seek(1, itemHunk)
	case "[", "K":
		s.seek(-1, itemHunk)
	case "x":
		s.seek(1, itemProblem)
	case "X":
		s.seek(-1, itemProblem)
	case "space", "a":
		s.choose(name == "a")
	default:
		if s.onDiff {
			s.diffKey(name)
			return nil
		}
		return s.listKey(name)
	}
	return nil
}

// listKey takes the keys of the left side.
func (s *screen) listKey(name string) tea.Cmd {
	switch name {
	case "enter", "right", "l":
		s.focus(true)
		return nil
	case "esc":
		s.list.setFilter("")
	case "up", "k":
		s.list.move(-1)
	case "down", "j":
		s.list.move(1)
	case "home", "g":
		s.list.move(-len(s.list.shown))
	case "end", "G":
		s.list.move(len(s.list.shown))
	default:
		s.diffKey(name) // pages of the diff
		return nil
	}
	return s.open()
}

// diffKey takes the keys of the right side.
func (s *screen) diffKey(name string) {
	if s.onDiff && (name == "esc" || name == "left" || name == "h") {
		s.focus(false)
		return
	}
	if !s.ready() {
		return
	}
	c := &s.pane.scroll
	switch name {
	case "up", "k":
		c.move(-1)
	case "down", "j":
		c.move(1)
	case "pgup", "b", "ctrl+b":
		c.move(1 - c.rows)
	case "pgdown", "f", "ctrl+f":
		c.move(c.rows - 1)
	case "ctrl+u":
		c.move(-c.rows / 2)
	case "ctrl+d":
		c.move(c.rows / 2)
	case "home", "g":
		c.jump(0)
	case "end", "G":
		c.end()
	}
}

// focus gives the keys to a side.
func (s *screen) focus(diff bool) {
	s.onDiff = diff && s.pane != nil
	s.layOut()
}

// ready reports whether there is a diff to act on.
func (s *screen) ready() bool { return s.pane != nil && s.pane.diff != nil }

// seek goes to another note or hunk.
func (s *screen) seek(by int, kind itemKind) {
	if s.ready() && !s.pane.seek(by, kind) {
		s.say(dim, "there is no other that way")
	}
}

// choose takes in or out what is under the cursor, or all.
func (s *screen) choose(all bool) {
	switch {
	case !s.ready():
	case all:
		s.pane.toggleAll()
	case !s.onDiff:
		s.focus(true) // the cursor must be seen
	default:
		s.pane.toggle()
	}
}

// askMerge asks, unless something is in the way.
func (s *screen) askMerge() {
	if !s.ready() || s.busy {
		return
	}
	c := s.pane.choice
	if c.size().notes == 0 {
		s.say(warn, "nothing is chosen: space takes a note or a hunk in")
		return
	}
	if p := c.inTheWay(s.pane.draft.Problems); p != nil {
		s.say(bad, "not merged: "+s.pane.problem(*p, true))
		return
	}
	s.mode = confirming
}

func (s *screen) confirmKey(name string) tea.Cmd {
	switch name {
	case "y", "Y":
		return s.merge()
	case "n", "N", "esc", "q":
		s.mode = browsing
		s.say(dim, "not merged")
	}
	return nil
}

func (s *screen) askReason() {
	if s.ready() && !s.busy {
		s.mode, s.prompt = rejecting, prompt{}
	}
}

func (s *screen) reasonKey(name, text string) tea.Cmd {
	switch name {
	case "esc":
		s.mode = browsing
		s.say(dim, "not rejected")
	case "enter":
		if s.prompt.text() == "" {
			s.say(warn, "the agent needs a reason; esc leaves the draft as it is")
			return nil
		}
		return s.reject(s.prompt.text())
	default:
		s.prompt.key(name, text)
	}
	return nil
}

func (s *screen) filterKey(name, text string) tea.Cmd {
	switch name {
	case "enter":
		s.mode = browsing
		return nil
	case "esc":
		s.mode, s.prompt = browsing, prompt{}
	case "up", "down":
		s.list.move(map[string]int{"up": -1, "down": 1}[name])
		return s.open()
	default:
		s.prompt.key(name, text)
	}
	s.list.setFilter(s.prompt.text())
	return s.open()
}

// paste writes text where a line is being written, and does nothing elsewhere:
// it is not keys.
func (s *screen) paste(text string) tea.Cmd {
	switch s.mode {
	case rejecting:
		s.prompt.insert(text)
	case filtering:
		s.prompt.insert(text)
		s.list.setFilter(s.prompt.text())
		return s.open()
	}
	return nil
}
