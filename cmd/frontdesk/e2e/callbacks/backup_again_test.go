package callbacks

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestBackupBeginsAgain: a backup whose connection breaks in the middle is no failure of
// the job, which is begun again and is whole then.
func TestBackupBeginsAgain(t *testing.T) {
	t.Parallel()
	h, options := rig.NewHooks(t, nil)
	options.DSN = rig.Engines[1].DSN(t)
	breaks := cutOnce(t, options.DSN)
	options.Wrap = func(driver backend.Driver) backend.Driver { return broken{driver.(*reference.Store), breaks} }
	d := rig.Start(t, options)
	token := d.Login(rig.HookedKey, "demo")
	id := d.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
	require.Equal(t, id, h.Next(t))
	require.Equal(t, 200, d.Download(d.Collect(token, id)).Status)
	require.Regexp(t, `(?m)^postponed +20\S+ \S+ \S+ +the backend is away$`, d.Show(id))
}

// broken breaks the connection of the first export.
type broken struct {
	*reference.Store
	breaks func(ctx context.Context, export func())
}

func (b broken) Export(ctx context.Context, client auth.Client, w io.Writer) (m backend.Manifest, err error) {
	b.breaks(ctx, func() { m, err = b.Store.Export(ctx, client, w) })
	return m, err
}

// cutOnce has what is read the first time wait for a table, and ends its connection then.
func cutOnce(t *testing.T, dsn string) func(context.Context, func()) {
	var cut atomic.Bool
	return func(_ context.Context, export func()) {
		if cut.Swap(true) {
			export()
			return
		}
		defer rig.Lock(t, dsn, `LOCK TABLE "order"`)()
		var ended sync.WaitGroup
		ended.Go(export)
		await.True(t, func() bool { return rig.Locked(t, dsn) > 0 })
		assert.NoError(t, sqltest.Execute(dsn, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"))
		ended.Wait()
	}
}
