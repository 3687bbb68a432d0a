package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// Two configurations that agree on little: what a request is told shows by which
// of them it was judged, and whether by one alone.
var (
	allowedByA = []string{"/contact", "/order", "/model/*"}
	allowedByB = []string{"/contact", "/country", "/vehicle"}
)

// TestReloadUnderLoad reloads 200 times, to what is right and to what is wrong,
// while requests come without a pause. What both allow never fails; no request is
// judged by some of one and some of the other; and nothing is left behind.
func TestReloadUnderLoad(t *testing.T) {
	base := keptConfig(t, engines[0].dsn(t), "", "")
	allowing := func(paths []string) string {
		var rules []string
		for _, path := range paths {
			rules = append(rules, `"GET `+path+`"`)
		}
		return base + keptKey(strings.Join(rules, ", "))
	}
	a, b := allowing(allowedByA), allowing(allowedByB)
	k := startKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), a, false)
	token := k.login(fullKey, "demo")
	judgedBy := map[string][]string{k.ready().Config.Hash: allowedByA}
	reload := func(text string) {
		k.write(text)
		k.hangUp()
	}
	reload(b)
	judgedBy[k.ready().Config.Hash] = allowedByB
	require.Len(t, judgedBy, 2)

	stop := k.traffic(token)
	files, routines := openFiles(t), runtime.NumGoroutine()
	wrong := []string{
		base + "  - [", strings.Replace(a, "\napi_keys:", "\ninclude: [gone.yaml]\napi_keys:", 1),
		strings.Replace(b, "\napi_keys:", "\nexpect: [{key: full, request: GET /order, verdict: allowed}]\napi_keys:", 1),
	}
	failures := 0
	for i := range 200 {
		switch {
		case i%4 == 1:
			reload(a)
		case i%4 == 3:
			reload(b)
		default:
			reload(wrong[i/2%len(wrong)])
			failures++
		}
	}
	answered := stop()
	require.Greater(t, answered, int64(200), "there was little traffic")
	require.EqualValues(t, failures, k.metric("frontdesk_config_reload_failures_total"))
	require.EqualValues(t, 201, k.metric("frontdesk_config_reloads_total"))
	k.http.CloseIdleConnections()
	require.Eventually(t, func() bool { return openFiles(t) <= files+2 && runtime.NumGoroutine() <= routines }, patience, 10*time.Millisecond, "left behind")
	k.shutdown()
	judged := k.judgedByOne(judgedBy)
	t.Logf("%d requests answered, of them %d judged by what only one configuration allows", answered, judged)
}

// traffic asks for what both configurations allow, for what one allows, and for
// what may be called at all, until it is stopped.
func (k *kept) traffic(token string) (stop func() (answered int64)) {
	var ended atomic.Bool
	var answered atomic.Int64
	var all sync.WaitGroup
	for _, path := range []string{"/contact/1", "/order?page_size=1", "/country?page_size=1", "/authenticate/acces"} {
		all.Go(func() {
			for !ended.Load() {
				a, err := k.try("GET", path, token, "")
				if err != nil {
					k.t.Errorf("GET %s: %v", path, err)
					return
				}
				answered.Add(1)
				k.judgeAnswer(path, a)
			}
		})
	}
	return func() int64 {
		ended.Store(true)
		all.Wait()
		return answered.Load()
	}
}

func (k *kept) judgeAnswer(path string, a answer) {
	switch path {
	case "/authenticate/acces":
		var body struct {
			Data struct{ Endpoints []struct{ Path string } }
		}
		if err := json.Unmarshal(a.Body, &body); err != nil {
			k.t.Errorf("%s: %v", a.Body, err)
		}
		var listed []string
		for _, e := range body.Data.Endpoints {
			listed = append(listed, e.Path)
		}
		slices.Sort(listed)
		sortedA, sortedB := slices.Sorted(slices.Values(allowedByA)), slices.Sorted(slices.Values(allowedByB))
		if !slices.Equal(listed, sortedA) && !slices.Equal(listed, sortedB) {
			k.t.Errorf("neither configuration allows just %q", listed)
		}
	case "/contact/1":
		if a.Status != 200 {
			k.t.Errorf("both configurations allow GET %s, which is answered %d: %s", path, a.Status, a.Body)
		}
	default:
		if a.Status != 200 && (a.Status != 400 || !strings.Contains(string(a.Body), "Invalid endpoint")) {
			k.t.Errorf("GET %s: %d %s", path, a.Status, a.Body)
		}
	}
}

// judgedByOne holds every line of the access log to the configuration it names, and
// returns how many there were on what only one of them allows.
func (k *kept) judgedByOne(judgedBy map[string][]string) (judged int) {
	for line := range strings.Lines(k.log.String()) {
		var l struct {
			Msg, Endpoint, Config string
			Status                int
		}
		require.NoError(k.t, json.Unmarshal([]byte(line), &l), line)
		path := strings.TrimSuffix(l.Endpoint, "/{id}")
		if l.Msg != "request" || path != "/order" && path != "/country" {
			continue
		}
		allowed, known := judgedBy[l.Config]
		require.True(k.t, known, line)
		require.Equal(k.t, slices.Contains(allowed, path), l.Status == 200, line)
		judged++
	}
	return judged
}

// openFiles is how many files and sockets this process has open.
func openFiles(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not tell which files are open")
	}
	return len(all)
}

// BenchmarkReload reads a configuration again in which one of 100 files has changed:
// 10,000 api_keys with 64 entries each.
func BenchmarkReload(b *testing.B) {
	dir := b.TempDir()
	keys := filepath.Join(dir, "keys.d")
	require.NoError(b, os.Mkdir(keys, 0o700))
	model, err := mapping.LoadModel("")
	require.NoError(b, err)
	var rules []string
	for _, r := range model.Resources {
		for _, method := range []string{"GET", "POST", "PUT", "DELETE"} {
			rules = append(rules, fmt.Sprintf("%q", method+" /"+r.Name))
		}
	}
	file := func(n, version int) {
		text := fmt.Sprintf("# %d\napi_keys:\n", version)
		for i := range 100 {
			name := fmt.Sprintf("key-%d-%d", n, i)
			text += fmt.Sprintf("  - name: %s\n    key_sha256: [%x]\n    allow: [%s]\n", name, sha256.Sum256([]byte(name)), strings.Join(rules[:64-version%2], ", "))
		}
		require.NoError(b, os.WriteFile(filepath.Join(keys, fmt.Sprintf("%d.yaml", n)), []byte(text), 0o600))
	}
	for n := range 100 {
		file(n, 0)
	}
	k := startKept(b, filepath.Join(dir, "frontdesk.yaml"), keptConfig(b, engines[0].dsn(b), "include: [keys.d/*.yaml]", keptKey(`"GET /order"`)), false)
	done := k.metric("frontdesk_config_reloads_total")
	for i := 1; b.Loop(); i++ {
		b.StopTimer()
		file(42, i)
		b.StartTimer()
		k.hangUp()
		done++
	}
	require.Equal(b, done, k.metric("frontdesk_config_reloads_total"))
	require.Empty(b, k.ready().Config.Error)
}
