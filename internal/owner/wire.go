package owner

import (
	"strconv"
	"strings"
)

// The protocol is HTTP on the owner's socket. A call is POST /call with the
// parameters as body. The answer's head says that the owner took the call, and is sent
// before the handler runs; the body is a row of messages, the last of which
// is the outcome. Status 503 says that the owner is leaving, 409 that owner and caller do
// not fit, with the owner's Info as body; an owner that is the older of the two then leaves.
const (
	protocol = 1

	headMethod   = "Kb-Method"
	headSecret   = "Kb-Secret"
	headProtocol = "Kb-Protocol"
	headSchema   = "Kb-Schema"
	headVersion  = "Kb-Version"
	headPID      = "Kb-Pid"
)

// newer reports whether a process a should take over from b, by protocol,
// schema, and version, in that order.
func newer(aProtocol int, a Info, bProtocol int, b Info) bool {
	switch {
	case aProtocol != bProtocol:
		return aProtocol > bProtocol
	case a.Schema != b.Schema:
		return a.Schema > b.Schema
	}
	return newerVersion(a.Version, b.Version)
}

// newerVersion compares versions such as v1.2.3. One that is not of this form
// is neither newer nor older than any.
func newerVersion(a, b string) bool {
	x, okX := parseVersion(a)
	y, okY := parseVersion(b)
	if !okX || !okY {
		return false
	}
	for i := range x {
		if x[i] != y[i] {
			return x[i] > y[i]
		}
	}
	return false
}

func parseVersion(s string) (v [3]int, ok bool) {
	s, _, _ = strings.Cut(strings.TrimPrefix(s, "v"), "+")
	s, _, _ = strings.Cut(s, "-")
	parts := strings.Split(s, ".")
	if len(parts) != len(v) {
		return v, false
	}
	for i, p := range parts {
		n, err := strconv.Atoi(p)
		if err != nil || n < 0 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}
