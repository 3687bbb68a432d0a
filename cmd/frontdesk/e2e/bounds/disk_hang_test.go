package bounds

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestHangingDisk: while nobody can tell how a disk does, readiness and the metrics are
// answered without it, callbacks are accepted, and frontdesk stops. Before, all four waited for
// the disk, and each probe kept a thread.
func TestHangingDisk(t *testing.T) {
	t.Parallel()
	var hangs atomic.Bool
	var looks atomic.Int64
	answers := make(chan struct{})
	hooks, options := rig.NewHooks(t, nil)
	options.Disk = func(string) (device uint64, d desk.Disk, err error) {
		looks.Add(1)
		if hangs.Load() {
			<-answers
		}
		return 1, desk.Disk{Free: 9 << 30, Size: 10 << 30}, nil
	}
	d := rig.OnSQLite(t, options)
	defer close(answers)
	token := d.Login(rig.BackupKey, "demo")
	require.Contains(t, d.OpsText("/metrics"), `frontdesk_disk_free_bytes{holds="results"} 9.`)

	hangs.Store(true)
	await.True(t, func() bool {
		return strings.Contains(d.OpsText("/readyz"), "the disk of database, results, mail has not answered since ")
	})
	require.Contains(t, d.OpsText("/readyz"), `"status":"degraded"`)
	before := looks.Load()
	for range 5 {
		require.NotContains(t, d.OpsText("/metrics"), "frontdesk_disk_free_bytes{")
		d.OpsText("/readyz")
	}
	d.Call("POST", "/backup/owner", token, hooks.Body()).Promise(t)
	require.Equal(t, before, looks.Load(), "one look at a disk hangs at a time")
	d.Shutdown()
}
