package reload

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// BenchmarkReload reads a configuration again in which one of 100 files has changed:
// 10,000 api_keys with 64 entries each.
func BenchmarkReload(b *testing.B) {
	dir := b.TempDir()
	keys := filepath.Join(dir, "keys.d")
	require.NoError(b, os.Mkdir(keys, 0o700))
	model := must.Have(mapping.LoadModel(""))(b)
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
