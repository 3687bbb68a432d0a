package callbacks

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// change changes a job beside the desks, in the keep of the sheet.
func (b *bookDesk) change(keep, id string, f func(*webhook.Job)) {
	b.t.Helper()
	onJobs(b.t, keep, func(store *jobstore.Store) {
		_, err := store.Change(b.t.Context(), id, func(j webhook.Job) (webhook.Job, *webhook.Try, error) {
			f(&j)
			return j, nil, nil
		})
		require.NoError(b.t, err)
	})
}

// TestCallbackTakenOver: a job whose lease has ended is not sent again, though the
// gateway that had it still waits for the answer, and has it late.
func TestCallbackTakenOver(t *testing.T) {
	t.Parallel()
	b := newBookDesk(t, "")
	keep := sqltest.Postgres(t)
	b.edit("keep: keep.db", "keep: "+keep)
	d := rig.Start(t, b.options)
	rig.Start(t, b.options)
	anna := d.Login(rig.HookedKey, "anna")
	for _, key := range []string{"", "mine"} {
		id := b.ask(d, anna, "Held", key)
		<-b.book.held
		b.change(keep, id, func(j *webhook.Job) { j.Lease = time.Now().Add(-time.Second) })
		b.called(id)
		b.unknown(d, anna, id)
	}
	require.Equal(t, 2, b.book.writes("POST Held"))
}

// TestCallbackKeptAnswer: a job that was cut off between the answer of its work and
// its result ends with that answer.
func TestCallbackKeptAnswer(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"", "mine"} {
		b := newBookDesk(t, "")
		d := rig.Start(t, b.options)
		id := b.ask(d, d.Login(rig.HookedKey, "anna"), "Bakker", key)
		b.called(id)
		d.Shutdown()
		b.change(filepath.Join(filepath.Dir(b.sheet), "keep.db"), id, func(j *webhook.Job) {
			j.State, j.Lease, j.Finished, j.NextTry, j.Result = webhook.Running, time.Now().Add(time.Minute), time.Time{}, time.Time{}, webhook.Result{}
		})
		d = rig.Start(t, b.options)
		b.called(id)
		b.done(d, d.Login(rig.HookedKey, "anna"), id, 201)
		require.Equal(t, 1, b.book.writes("POST Bakker"))
		d.Shutdown()
	}
}
