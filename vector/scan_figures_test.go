package vector

import (
	"bytes"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"
)

// TestScanFigures prints how long the scan of 100,000 vectors takes beside what
// reading their bytes takes, in turns, on as many processors.
func TestScanFigures(t *testing.T) {
	if os.Getenv("KB_LONG") == "" {
		t.Skip("long: KB_LONG=1 runs it")
	}
	const n, dim, rounds = 100_000, 384, 200
	rows, queries := clustered(n, dim)
	p := mustPack(t, rows)
	for _, threads := range []int{1, 2} {
		old := runtime.GOMAXPROCS(threads)
		var scans, reads []time.Duration
		for i := range rounds {
			start := time.Now()
			if _, err := p.Search(queries[i%len(queries)], 10, nil); err != nil {
				t.Fatal(err)
			}
			scans = append(scans, time.Since(start))
			start = time.Now()
			readBytes(p.quantized, threads)
			reads = append(reads, time.Since(start))
		}
		runtime.GOMAXPROCS(old)
		slices.Sort(scans)
		slices.Sort(reads)
		scan, read := scans[rounds/2], reads[rounds/2]
		t.Logf("%d threads: scan p50 %.2f ms (least %.2f), reading %d MB p50 %.2f ms (least %.2f, %.1f GB/s): %.2f times as long", threads,
			ms(scan), ms(scans[0]), len(p.quantized)>>20, ms(read), ms(reads[0]), float64(len(p.quantized))/reads[0].Seconds()/1e9, scan.Seconds()/read.Seconds())
	}
}

func ms(d time.Duration) float64 { return d.Seconds() * 1e3 }

// readBytes reads b, as fast as the standard library counts bytes.
func readBytes(b []byte, workers int) {
	parallel(len(b), workers, func(lo, hi int) { bytes.Count(b[lo:hi], []byte{0x80}) })
}
