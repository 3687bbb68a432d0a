package reload

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/mapping"
)

// TestReloadUnderLoad reloads 200 times, to what is right and to what is wrong,
// while requests come without a pause. What both allow never fails; no request is
// judged by some of one and some of the other; and nothing is left behind.
func TestReloadUnderLoad(t *testing.T) {
	base := rig.KeptConfig(t, rig.Engines[0].DSN(t), "", "")
	allowing := func(paths []string) string {
		var rules []string
		for _, path := range paths {
			rules = append(rules, `"GET `+path+`"`)
		}
		return base + rig.KeptKey(strings.Join(rules, ", "))
	}
	a, b := allowing(rig.AllowedByA), allowing(rig.AllowedByB)
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), a, false)
	token := k.Login(rig.FullKey, "demo")
	judgedBy := map[string][]string{k.Ready().Config.Hash: rig.AllowedByA}
	reload := func(text string) {
		k.Write(text)
		k.HangUp()
	}
	reload(b)
	judgedBy[k.Ready().Config.Hash] = rig.AllowedByB
	require.Len(t, judgedBy, 2)

	stop := k.Traffic(token)
	files, routines := openFiles(t), runtime.NumGoroutine()
	wrong := []string{
		base + "  - [", strings.Replace(a, "\napi_keys:", "\ninclude: [gone.yaml]\napi_keys:", 1),
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
	require.EqualValues(t, failures, k.Metric("frontdesk_config_reload_failures_total"))
	require.EqualValues(t, 201, k.Metric("frontdesk_config_reloads_total"))
	k.HTTP.CloseIdleConnections()
	const pools = 20 // what they may open once the traffic has begun, and keep: far less than one for each reload
	await.True(t, func() bool { return openFiles(t) <= files+pools && runtime.NumGoroutine() <= routines+pools }, "left behind")
	k.Shutdown()
	judged := k.JudgedByOne(judgedBy)
	t.Logf("%d requests answered, of them %d judged by what only one configuration allows", answered, judged)
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
	k := rig.StartKept(b, filepath.Join(dir, "frontdesk.yaml"), rig.KeptConfig(b, rig.Engines[0].DSN(b), "include: [keys.d/*.yaml]", rig.KeptKey(`"GET /order"`)), false)
	done := k.Metric("frontdesk_config_reloads_total")
	for i := 1; b.Loop(); i++ {
		b.StopTimer()
		file(42, i)
		b.StartTimer()
		k.HangUp()
		done++
	}
	require.Equal(b, done, k.Metric("frontdesk_config_reloads_total"))
	require.Empty(b, k.Ready().Config.Error)
}
