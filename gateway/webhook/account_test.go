package webhook_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// older is a gateway of a version that knows no room, on the jobs of others.
type older struct {
	t     *testing.T
	db    sqlrecord.DB
	clock *clock
}

func (e engine) older(t *testing.T, c *clock) *older {
	t.Helper()
	db, err := e.connect()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return &older{t, db, c}
}

// job is one in a state, with a result of so many bytes where there is any.
func (o *older) job(id string, s webhook.State, size int64) webhook.Job {
	j := webhook.Job{ID: id, Owner: owner(1), Work: webhook.Work{Kind: "blob"}, State: s, Created: o.clock.Now(), Needs: webhook.Needs{Model: 9}}
	switch {
	case s == webhook.Failed:
		j.Finished, j.Failure = j.Created, "broken"
	case s != webhook.Accepted:
		j.Finished, j.Result = j.Created, webhook.Result{File: id + ".1", Size: size}
	}
	return j
}

// keep writes a job as that version does, once it has run a statement that has the ID,
// the state, the times of creation and end, and the document.
func (o *older) keep(sql string, j webhook.Job) {
	o.t.Helper()
	text, err := json.Marshal(j)
	require.NoError(o.t, err)
	sql = strings.ReplaceAll(sql, "$", o.db.Dialect().Placeholder(1)[:1])
	ended := mapping.IntValue(0)
	if !j.Finished.IsZero() {
		ended = mapping.IntValue(j.Finished.UnixMilli())
	}
	require.NoError(o.t, o.db.Write(o.t.Context(), func(conn sqlrecord.Conn) error {
		_, err := conn.Exec(o.t.Context(), sql, mapping.TextValue(j.ID), mapping.TextValue(string(j.State)), mapping.IntValue(j.Created.UnixMilli()), ended, mapping.TextValue(string(text)))
		return err
	}))
}

func (o *older) add(j webhook.Job) {
	o.t.Helper()
	o.keep(`INSERT INTO callback_job (id, client_id, host, state, created_at, started_at, finished_at, lease_until, next_try, document)
		VALUES ($1, 1, '', $2, $3, 0, $4, 0, 0, $5)`, j)
}

func (o *older) change(j webhook.Job) {
	o.t.Helper()
	o.keep(`UPDATE callback_job SET state = $2, created_at = $3, finished_at = $4, document = $5 WHERE id = $1`, j)
}

// TestWhatAnOlderVersionTakesOfTheSpace: what such a gateway accepts, does and hands out in a
// rolling upgrade counts like everything else, and gives way.
func TestWhatAnOlderVersionTakesOfTheSpace(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c, store := newReceivers(t), newClock(), e.open(t)
		old := e.older(t, c)
		for id, state := range map[string]webhook.State{"taken": webhook.CalledBack, "broken": webhook.Failed} { // accepted by this version
			j := old.job(id, webhook.Accepted, 0)
			j.Room = 5000
			require.NoError(t, store.Add(t.Context(), j))
			j = old.job(id, state, 3000)
			j.Room = 5000
			old.change(j)
		}
		waiting := old.job("waiting", webhook.Accepted, 0)
		require.NoError(t, store.Add(t.Context(), waiting)) // which nobody here is able to take up
		old.keep(`UPDATE callback_job SET kind = '', state = $2, created_at = $3, finished_at = $4, document = $5 WHERE id = $1`, waiting)
		old.add(old.job("done", webhook.Done, 1000))
		old.add(old.job("collected", webhook.Collected, 2000))

		p := start(t, c, store, rs.caller(t), blobs)
		store.until(t, func() bool {
			left, err := store.Unaccounted(t.Context(), 10)
			require.NoError(t, err)
			return len(left) == 0
		})
		stages := func() map[webhook.Stage]int64 {
			bytes := map[webhook.Stage]int64{}
			all, err := store.Room(t.Context(), c.Now().Add(-webhook.SpentAfter))
			require.NoError(t, err)
			for _, taken := range all {
				require.Equal(t, "blob", taken.Kind)
				bytes[taken.Stage] += taken.Bytes
			}
			return bytes
		}
		require.Equal(t, map[webhook.Stage]int64{webhook.Reserved: 5000, webhook.Kept: 6000}, stages(), "as much is set aside as is known of the kind")
		c.Advance(webhook.SpentAfter)
		require.Equal(t, map[webhook.Stage]int64{webhook.Reserved: 5000, webhook.Kept: 4000, webhook.Spent: 2000}, stages())
		old.add(old.job("later", webhook.Done, 500))
		p.look()
		store.until(t, func() bool { return stages()[webhook.Kept] == 4500 })
	})
}
