package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"

	"github.com/stretchr/testify/require"
)

// many are as many endpoints as the interface has, and more.
var many = func() (all []config.Endpoint) {
	for i := range 40 {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			all = append(all, config.Endpoint{Method: method, Path: fmt.Sprintf("/resource%d", i)})
		}
	}
	return all
}()

var knownMany = config.Known{
	Endpoints: func(*config.Config) ([]config.Endpoint, error) { return many, nil },
}

const (
	manyKeys    = 10_000
	manyEntries = 100
)

// writeKeys makes a configuration of many keys with many entries each, over as
// many files, and returns where it is.
func writeKeys(t testing.TB, files int) (path string) {
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "keys.d"), 0o700))
	perFile := manyKeys / files
	for file := range files {
		writeKeyFile(t, dir, file, file*perFile, perFile, "2027-12-31")
	}
	path = filepath.Join(dir, "frontdesk.yaml")
	require.NoError(t, os.WriteFile(path, []byte("include: [keys.d/*.yaml]\n"), 0o600))
	return path
}

func writeKeyFile(t testing.TB, dir string, file, first, n int, expires string) {
	var b strings.Builder
	b.WriteString("api_keys:\n")
	for i := first; i < first+n; i++ {
		fmt.Fprintf(&b, "  - name: key-%05d\n    key_sha256: [\"%064x\"]\n    expires: %s\n    rate: {per_second: 20, burst: 40}\n    allow:\n", i, i+1, expires)
		for e := range manyEntries {
			entry := many[(i+e)%len(many)]
			fmt.Fprintf(&b, "      - %s %s\n", entry.Method, entry.Path)
		}
	}
	name := filepath.Join(dir, "keys.d", fmt.Sprintf("%05d.yaml", file))
	require.NoError(t, os.WriteFile(name, []byte(b.String()), 0o600))
	long := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(name, long, long))
}

// liveHeap is what the heap holds that is in use.
func liveHeap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkLoad reads a large configuration for the first time, and again after
// one of its files has changed.
func BenchmarkLoad(b *testing.B) {
	for _, files := range []int{100, 10_000} {
		path := writeKeys(b, files)
		b.Run(fmt.Sprintf("cold/files=%d", files), func(b *testing.B) {
			before := liveHeap()
			var loader *config.Loader
			var c *config.Config
			for b.Loop() {
				loader = config.NewLoader(path, knownMany)
				c = mustLoad(b, loader)
			}
			b.ReportMetric(float64(liveHeap()-before)/(1<<20), "live-MiB")
			if len(c.APIKeys) != manyKeys || len(c.APIKeys[0].Allow) != manyEntries {
				b.Fatal("keys are missing")
			}
			runtime.KeepAlive(loader)
		})
		b.Run(fmt.Sprintf("reload/files=%d", files), func(b *testing.B) {
			loader := config.NewLoader(path, knownMany)
			hash := mustLoad(b, loader).Hash()
			day := 0
			for b.Loop() {
				b.StopTimer()
				day++
				writeKeyFile(b, filepath.Dir(path), 0, 0, manyKeys/files, fmt.Sprintf("2028-01-%02d", day%28+1))
				b.StartTimer()
				c := mustLoad(b, loader)
				if c.Hash() == hash {
					b.Fatal("a change was not seen")
				}
				hash = c.Hash()
			}
		})
		b.Run(fmt.Sprintf("unchanged/files=%d", files), func(b *testing.B) {
			loader := config.NewLoader(path, knownMany)
			mustLoad(b, loader)
			for b.Loop() {
				mustLoad(b, loader)
			}
		})
	}
}

func mustLoad(t testing.TB, loader *config.Loader) *config.Config {
	t.Helper()
	return must.Have(loader.Load())(t)
}
