package vector

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestThroughput prints how fast the engines are with a model of the sizes of
// bge-small-en-v1.5, side by side, and what the native one takes of memory.
func TestThroughput(t *testing.T) {
	if os.Getenv("KB_LONG") == "" {
		t.Skip("long: KB_LONG=1 runs it")
	}
	if _, err := os.Stat("testdata/ort/node_modules"); err != nil {
		t.Skip("not installed: npm ci --ignore-scripts --prefix vector/testdata/ort")
	}
	dir := modelDir(t, bgeSized().files("cls")...)
	before := heap()
	start := time.Now()
	e, err := Open(dir, Options{Engine: "native"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	loaded := time.Since(start)
	after := heap()
	t.Logf("loaded in %v, %d MB of memory", loaded.Round(time.Millisecond), (after-before)>>20)
	const threads, rounds = 2, 5
	ort := startORT(t, filepath.Join(dir, "onnx", "model.onnx"), threads, rounds)
	model := e.(*native).model.Load()
	for _, c := range []struct{ tokens, texts int }{{16, 1}, {128, 1}, {256, 1}, {512, 1}, {128, 8}, {256, 8}} {
		best, other := time.Hour, time.Hour
		for range 3 { // by turns, as others work on the machine, too
			other = min(other, ort(c.tokens, c.texts))
			for range rounds {
				best = min(best, timeNative(model, c.tokens, c.texts, threads))
			}
		}
		t.Logf("%d × %3d tokens: native %6.1f ms, ONNX Runtime %6.1f ms: %.2f of its speed", c.texts, c.tokens,
			best.Seconds()*1e3, other.Seconds()*1e3, other.Seconds()/best.Seconds())
	}
}

// bgeSized has the layers of bge-small-en-v1.5, and as many words.
func bgeSized() *tinyBERT {
	b := &tinyBERT{weights: make(map[string][]float32), shapes: make(map[string][]int), vocab: append([]string{}, specials...), state: 1}
	for len(b.vocab) < 30522 {
		b.vocab = append(b.vocab, "t"+strconv.Itoa(len(b.vocab)))
	}
	b.config = bertConfig{Type: "bert", Hidden: 384, Layers: 12, Heads: 12, Inter: 1536, Positions: 512, Types: 2, Vocab: len(b.vocab), Act: "gelu"}
	b.fill(0.05)
	return b
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// timeNative runs texts side by side, or one on all threads.
func timeNative(m *nativeModel, tokens, texts, threads int) time.Duration {
	ids := make([]int32, tokens)
	for i := range ids {
		ids[i] = int32(i % 50)
	}
	start := time.Now()
	side := min(threads, texts)
	_, err := embedEach(context.Background(), make([]string, texts), side, func(string) ([]float32, error) {
		e := m.take(threads / side)
		defer m.spare.Put(e)
		e.run(ids)
		return nil, nil
	})
	if err != nil {
		panic(err)
	}
	return time.Since(start)
}

// startORT starts ONNX Runtime and returns how to time it.
func startORT(t *testing.T, model string, threads, rounds int) func(tokens, texts int) time.Duration {
	t.Helper()
	cmd := exec.Command("node", "testdata/ort/run.mjs", model, strconv.Itoa(threads), strconv.Itoa(rounds))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); cmd.Wait() })
	lines := bufio.NewScanner(out)
	return func(tokens, texts int) time.Duration {
		fmt.Fprintf(in, "%d %d\n", tokens, texts)
		if !lines.Scan() {
			t.Fatalf("node: %v", lines.Err())
		}
		ms, err := strconv.ParseFloat(strings.TrimSpace(lines.Text()), 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.Duration(ms * 1e6)
	}
}
