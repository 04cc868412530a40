package convert

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// isChat reports whether a file is an export of conversations: ChatGPT's has a
// mapping of messages in each, Claude's a list of chat_messages.
func isChat(s *sniffed) bool {
	if s.text == "" || s.stated(".md .markdown") || !strings.HasPrefix(strings.TrimSpace(s.text), "[") && !strings.HasPrefix(strings.TrimSpace(s.text), "{") {
		return false
	}
	return strings.Contains(s.text, `"chat_messages"`) && strings.Contains(s.text, `"sender"`) ||
		strings.Contains(s.text, `"mapping"`) && strings.Contains(s.text, `"author"`) && strings.Contains(s.text, `"content"`)
}

// conversation is one of either export.
type conversation struct {
	UUID     string              `json:"uuid"`
	Name     string              `json:"name"`
	Messages []claudeMessage     `json:"chat_messages"`
	Begun    string              `json:"created_at"`
	ID       string              `json:"conversation_id"`
	OtherID  string              `json:"id"`
	Title    string              `json:"title"`
	Created  float64             `json:"create_time"`
	Current  string              `json:"current_node"`
	Mapping  map[string]chatNode `json:"mapping"`
}

type claudeMessage struct {
	Sender  string `json:"sender"`
	Text    string `json:"text"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Attachments []struct {
		Name string `json:"file_name"`
	} `json:"attachments"`
}

type chatNode struct {
	Parent   string       `json:"parent"`
	Children []string     `json:"children"`
	Message  *chatMessage `json:"message"`
}

type chatMessage struct {
	Author struct {
		Role string `json:"role"`
	} `json:"author"`
	Created float64 `json:"create_time"`
	Content struct {
		Type     string            `json:"content_type"`
		Parts    []json.RawMessage `json:"parts"`
		Text     string            `json:"text"`
		Language string            `json:"language"`
	} `json:"content"`
	Metadata struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// convertChat makes a document of each conversation: a section for each turn.
func convertChat(ctx context.Context, s *sniffed) ([]Doc, error) {
	text := strings.TrimSpace(s.text)
	if text[0] == '{' {
		text = "[" + text + "]"
	}
	d := json.NewDecoder(strings.NewReader(text))
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	var docs []Doc
	for d.More() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var c conversation
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("%w: conversation %d: %w", ErrDamaged, len(docs)+1, err)
		}
		if len(docs) == MaxDocs {
			return nil, fmt.Errorf("%w: more than %d conversations", ErrTooLarge, MaxDocs)
		}
		if doc := c.doc(); strings.TrimSpace(doc.Body) != "" {
			docs = append(docs, doc)
		}
	}
	return docs, nil
}

// turn is what one side says.
type turn struct{ who, text string }

func (c *conversation) doc() Doc {
	d := Doc{Key: cmp.Or(c.UUID, c.ID, c.OtherID), Type: "chat", Title: cmp.Or(c.Title, c.Name, "Conversation"), Tags: []string{"conversation"}}
	turns := c.claudeTurns()
	if at, ok := parseTime(strings.SplitN(c.Begun, ".", 2)[0]); ok {
		d.Created = at
	}
	if c.Mapping != nil {
		turns = c.mappedTurns()
		if s, _ := math.Modf(c.Created); s > 0 && s < 1<<40 {
			d.Created = time.Unix(int64(s), 0).UTC()
		}
	}
	var b strings.Builder
	last := ""
	for _, t := range turns {
		if strings.TrimSpace(t.text) == "" {
			continue
		}
		if t.who != last {
			fmt.Fprintf(&b, "## %s\n\n", t.who)
			last = t.who
		}
		b.WriteString(deeper(strings.TrimSpace(t.text)) + "\n\n")
	}
	d.Body = b.String()
	return d
}

func (c *conversation) claudeTurns() (turns []turn) {
	for _, m := range c.Messages {
		text := ""
		for _, part := range m.Content {
			if part.Type == "text" {
				text += part.Text + "\n\n"
			}
		}
		text = cmp.Or(strings.TrimSpace(text), m.Text)
		for _, a := range m.Attachments {
			text += "\n\nAttached: " + escapeInline(a.Name)
		}
		turns = append(turns, turn{speaker(m.Sender), text})
	}
	return turns
}

// mappedTurns follows the branch of a conversation that was shown last, from its
// end to its beginning.
func (c *conversation) mappedTurns() (turns []turn) {
	at := c.Current
	if _, ok := c.Mapping[at]; !ok {
		at = c.newest()
	}
	seen := map[string]bool{}
	for at != "" && !seen[at] {
		seen[at] = true
		node, ok := c.Mapping[at]
		if !ok {
			break
		}
		if m := node.Message; m != nil && !m.Metadata.Hidden && (m.Author.Role == "user" || m.Author.Role == "assistant") {
			turns = append(turns, turn{speaker(m.Author.Role), m.text()})
		}
		at = node.Parent
	}
	slices.Reverse(turns)
	return turns
}

// newest is the message without an answer that was written last.
func (c *conversation) newest() (id string) {
	latest := -1.0
	for name, node := range c.Mapping {
		if len(node.Children) > 0 || node.Message == nil {
			continue
		}
		if at := node.Message.Created; at > latest || at == latest && name < id {
			id, latest = name, at
		}
	}
	return id
}

func (m *chatMessage) text() string {
	if m.Content.Type == "code" {
		return fenced(m.Content.Text, strings.TrimPrefix(m.Content.Language, "unknown"))
	}
	var parts []string
	for _, raw := range m.Content.Parts {
		var s string
		if json.Unmarshal(raw, &s) == nil {
			parts = append(parts, s)
		} else {
			parts = append(parts, "[a picture or a file]")
		}
	}
	return strings.Join(append(parts, m.Content.Text), "\n\n")
}

func speaker(role string) string {
	switch role {
	case "user", "human":
		return "User"
	}
	return "Assistant"
}

// deeper makes the headings of a turn smaller than those of turns, outside code.
func deeper(text string) string {
	fence := ""
	var b strings.Builder
	for line := range strings.Lines(text) {
		mark := strings.TrimLeft(line, " ")
		switch {
		case fence != "":
			if strings.HasPrefix(mark, fence) {
				fence = ""
			}
		case strings.HasPrefix(mark, "```"), strings.HasPrefix(mark, "~~~"):
			fence = mark[:3]
		case strings.HasPrefix(line, "#") && strings.HasPrefix(strings.TrimLeft(line, "#"), " "):
			const deepest = 6
			n := min(len(line)-len(strings.TrimLeft(line, "#"))+2, deepest)
			line = strings.Repeat("#", n) + strings.TrimLeft(line, "#")
		}
		b.WriteString(line)
	}
	return b.String()
}
