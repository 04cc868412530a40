package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"kb/internal/vaulttest"
)

// Arguments that are small and ask for much are refused: none is answered, takes
// much memory, or ends the server. (What nests more than a thousand times is no
// message: over HTTP it is refused before, and on stdin it ends the session.)
func TestJSONBombs(t *testing.T) {
	s := connect(t, agent(t, vaulttest.Repo(t, notes)), Options{}, nil)
	many := strings.TrimSuffix(strings.Repeat(`"README.md",`, 200_000), ",")
	for name, arguments := range map[string]string{
		"brackets":            `{"query": ` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + `}`,
		"braces":              `{"query": ` + strings.Repeat(`{"a":`, 400) + "1" + strings.Repeat("}", 400) + `}`,
		"a list of many":      `{"scope": [` + many + `], "query": 1}`,
		"a number of digits":  `{"query": "x", "max_results": ` + strings.Repeat("9", 100_000) + `}`,
		"a number too large":  `{"query": "x", "max_results": 1e999999999}`,
		"a fraction":          `{"query": "x", "max_results": 1e-999999999}`,
		"a list for a number": `{"query": "x", "max_results": [[[[1]]]]}`,
		"a mapping":           `{"query": {"toString": "x", "__proto__": {"admin": true}}}`,
		"unknown names":       `{"query": "x"` + manyNames(20_000) + `}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := s.CallTool(context.Background(), &sdk.CallToolParams{Name: "search", Arguments: json.RawMessage(arguments)})
		runtime.ReadMemStats(&after)
		if err == nil && !r.IsError {
			t.Errorf("%s: %.200s", name, text(r))
		}
		if err == nil && len(text(r)) > 4000 {
			t.Errorf("%s: refused with %d bytes", name, len(text(r)))
		}
		if took := (after.TotalAlloc - before.TotalAlloc) >> 20; took > 400 {
			t.Errorf("%s: %d KiB took %d MiB", name, len(arguments)>>10, took)
		}
		if err := s.Ping(context.Background(), nil); err != nil {
			t.Fatalf("%s: the server is gone: %v", name, err)
		}
	}
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"name%d":1`, i)
	}
	return b.String()
}
