package vault

import (
	"cmp"
	"context"
	"errors"
	"net/mail"
	"strings"
	"time"

	"kb/gitstore"
	"kb/note"
)

// Caller is who an operation runs for. It travels with each call: the process
// that executes a call may be another's. The zero Caller is the person whose
// git configuration is in force.
type Caller struct {
	Agent   string     `json:"agent,omitempty"`   // the name that an agent states, or "Name <address>"
	Client  string     `json:"client,omitempty"`  // the program that the agent runs in: "claude-code 2.1"
	Reviews bool       `json:"reviews,omitempty"` // the agent may decide about drafts of others
	Sees    Visibility `json:"sees,omitempty"`    // how far it sees; "" is all for a person, and Team for an agent
	User    string     `json:"user,omitempty"`    // whose private notes it sees, if it sees private ones: "ada" or "Ada <ada@example.org>"
	Now     time.Time  `json:"now,omitzero"`      // the caller's clock, in its own time zone; zero for the executing process's
}

// As returns a copy of v that works for a caller. An agent that states nothing
// is still no person.
func (v *Vault) As(c Caller) *Vault {
	w := *v
	if v.audience == Agent && c.Agent == "" && c.Client == "" {
		c.Agent = "agent"
	}
	w.caller = c
	return &w
}

// GitUser is who git's configuration says that the user is, in the first
// repository of c: "Name <address>", "" if it does not say.
func (c *Config) GitUser(ctx context.Context) string {
	r, err := openRepository(c.Collections[0].Path)
	if err != nil {
		return ""
	}
	defer r.Close()
	user, err := r.Identity(ctx)
	if err != nil {
		return ""
	}
	return user.Name + " <" + user.Email + ">"
}

// today is the time of the call by the caller's own clock.
func (v *Vault) today() time.Time {
	if v.caller.Now.IsZero() {
		return v.now()
	}
	return v.caller.Now
}

// agentDomain is where the addresses of agents are that state none: nowhere.
const agentDomain = "@agents.invalid"

// author is who v's changes are by: the agent as it names itself, else the user
// of git's configuration, else kb. It is dated by the caller's clock.
func (v *Vault) author(ctx context.Context, r *repo) (gitstore.Signature, error) {
	user, err := r.Identity(ctx)
	if errors.Is(err, gitstore.ErrNoIdentity) {
		user = r.Nobody()
	} else if err != nil {
		return user, errorf(Internal, "find who commits: %w", err)
	}
	user.When = v.today()
	if name, address := v.caller.identity(); name != "" {
		user = gitstore.CleanSignature(gitstore.Signature{Name: name, Email: address, When: user.When})
	}
	return user, nil
}

// identity is how an agent names itself; "" for a person. What cannot stand in a
// commit is left out.
func (c Caller) identity() (name, address string) {
	said := oneLine(cmp.Or(c.Agent, c.clientName()), mostName)
	if said == "" {
		return "", ""
	}
	if a, err := mail.ParseAddress(said); err == nil && a.Name != "" {
		name, address = a.Name, a.Address
	} else {
		name = said
	}
	who := gitstore.CleanSignature(gitstore.Signature{Name: name, Email: address})
	if who.Name == "" {
		who.Name = "agent"
	}
	if who.Email == "" {
		who.Email = cmp.Or(note.Slug(who.Name), "agent") + agentDomain
	}
	return who.Name, who.Email
}

// mostName is how much is kept of a name that somebody states.
const mostName = 200

// clientName is the client without its version.
func (c Caller) clientName() string {
	name, _, _ := strings.Cut(strings.TrimSpace(c.Client), " ")
	return name
}

// trailers say in a commit which agent made it, and through which program.
func (c Caller) trailers() (list []gitstore.Trailer) {
	if name, _ := c.identity(); name != "" {
		list = append(list, gitstore.Trailer{Key: "Kb-Agent", Value: name})
	}
	if client := oneLine(c.Client, mostName); client != "" {
		list = append(list, gitstore.Trailer{Key: "Kb-Client", Value: client})
	}
	return list
}

// oneLine is s on one line, cut to a number of characters, without what hides
// or reorders text.
func oneLine(s string, most int) string {
	s = strings.Join(strings.Fields(visible(strings.ToValidUTF8(s, ""))), " ")
	if r := []rune(s); len(r) > most {
		return string(r[:most])
	}
	return s
}
