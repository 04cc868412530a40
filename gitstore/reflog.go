package gitstore

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// cutReflog splits main@{3} into the ref and how many moves ago is meant.
func cutReflog(name string) (ref string, n int, ok bool) {
	ref, digits, ok := strings.Cut(name, "@{")
	if !ok || !strings.HasSuffix(digits, "}") {
		return "", 0, false
	}
	n64, err := strconv.ParseUint(strings.TrimSuffix(digits, "}"), 10, 31)
	return ref, int(n64), err == nil
}

// fromReflog returns where a ref was n moves ago, by its reflog; without a name
// it is the branch that is checked out. A reflog knows what happened in this
// clone, for as long as git keeps it.
func (r *Repo) fromReflog(rev, name string, n int) (oid, error) {
	if name == "" {
		last, _, err := r.follow("HEAD")
		if err != nil {
			return oid{}, noRevision(rev, err)
		}
		name = last
	}
	if !validRef(name) {
		return oid{}, noRevision(rev, nil)
	}
	for _, full := range candidates(name) {
		_, id, err := r.follow(full)
		if err != nil {
			return oid{}, noRevision(rev, err)
		}
		if id == (oid{}) {
			continue
		}
		if n == 0 {
			return id, nil
		}
		log, err := readSmall(r.logFile(full))
		if err != nil && !isMissing(err) {
			return oid{}, noRevision(rev, err)
		}
		return moveBefore(rev, log, n)
	}
	return oid{}, noRevision(rev, nil)
}

// moveBefore reads a reflog from its end. Each line begins with the hashes before
// and after a move; before the first line's there is nothing.
func moveBefore(rev string, log []byte, n int) (oid, error) {
	lines := bytes.Split(bytes.TrimRight(log, "\n"), []byte("\n"))
	at := len(lines) - n
	if at < 0 || len(lines[at]) < 81 {
		return oid{}, noRevision(rev, fmt.Errorf("the reflog has %d moves", bytes.Count(log, []byte("\n"))))
	}
	id, ok := parseOID(lines[at][:40])
	if !ok || id == (oid{}) {
		return oid{}, noRevision(rev, nil)
	}
	return id, nil
}
