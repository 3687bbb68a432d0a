package webhook_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/backend/sqlrecord"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// TestWorkIsLeftToThoseWhoKnowIt has an older process leave alone what a newer one
// promised, and tell of it once; its own work goes on.
func TestWorkIsLeftToThoseWhoKnowIt(t *testing.T) {
	for _, needs := range []webhook.Needs{{Format: webhook.Format + 1, Model: 1}, {Format: webhook.Format, Model: 2}} {
		onEngines(t, func(t *testing.T, e engine) {
			rs, c, store := newReceivers(t), newClock(), e.open(t)
			to := rs.add(t, status(200))
			require.NoError(t, store.Add(t.Context(), webhook.Job{
				ID: "newer", Owner: owner(1), Callback: to.String(), State: webhook.Accepted, Needs: needs,
				Work: webhook.Work{Kind: "echo", Data: []byte("hello")}, Created: c.Now(),
			}))
			core, logged := observer.New(zap.WarnLevel)
			older := start(t, c, store, rs.caller(t), func(cfg *webhook.Config) { cfg.Model, cfg.Log = 1, zap.New(core) })
			own := older.accept(t, to, "echo")
			older.look()
			store.untilState(t, own, webhook.CalledBack)
			older.look()
			require.NoError(t, older.Close())
			require.Equal(t, webhook.Accepted, store.job(t, "newer").State)
			said := logged.FilterMessage("callbacks: jobs wait for a newer version, which promised them").All()
			require.Len(t, said, 1, "it is said once")
			require.EqualValues(t, 1, said[0].ContextMap()["jobs"])

			n, err := store.Beyond(t.Context(), needs)
			require.NoError(t, err)
			require.Zero(t, n, "who knows it leaves nothing")
			next, err := store.NextWork(t.Context(), c.Now(), needs, nil)
			require.NoError(t, err)
			require.Equal(t, "newer", next.ID)
		})
	}
}

// TestWorkThatNobodyKnowsFails: a promise that nobody can keep any more does not wait
// for ever, and the client is told.
func TestWorkThatNobodyKnowsFails(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c, store := newReceivers(t), newClock(), e.open(t)
		require.NoError(t, store.Add(t.Context(), webhook.Job{
			ID: "newer", Owner: owner(1), Callback: rs.add(t, status(200)).String(), State: webhook.Accepted, Needs: webhook.Needs{Format: 1, Model: 2},
			Work: webhook.Work{Kind: "echo", Data: []byte("hello")}, Created: c.Now(),
		}))
		older := start(t, c, store, rs.caller(t), func(cfg *webhook.Config) { cfg.Model = 1 })
		c.Advance(webhook.Left)
		older.look()
		require.Equal(t, webhook.Accepted, store.job(t, "newer").State)
		c.Advance(time.Millisecond)
		older.look()
		store.untilState(t, "newer", webhook.CalledBack)
		require.NoError(t, older.Close())
		require.Equal(t, "it needs a newer version, or more of the model, and nobody with that came for 24h0m0s", store.job(t, "newer").Failure)
	})
}

// TestWhatANewerVersionWroteIsKept: an older process calls for a job of a newer one,
// and hands out its result, without losing what it does not know of it.
func TestWhatANewerVersionWroteIsKept(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		store, c := e.open(t), newClock()
		require.NoError(t, store.Add(t.Context(), webhook.Job{ID: "job", Owner: owner(1), State: webhook.Accepted, Created: c.Now()}))
		db, err := e.connect()
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		words := []sqlrecord.Column{{Type: mapping.Text}}
		document := func() (members map[string]any) {
			err := db.Read(t.Context(), func(conn sqlrecord.Conn) error {
				return conn.Query(t.Context(), `SELECT document FROM callback_job`, words, nil, func(row []mapping.Value) error {
					return json.Unmarshal([]byte(row[0].Text()), &members)
				})
			})
			require.NoError(t, err)
			return members
		}
		newer := document()
		newer["Tenant"] = "north"
		newer["Owner"].(map[string]any)["Role"] = "buyer"
		text, err := json.Marshal(newer)
		require.NoError(t, err)
		err = db.Write(t.Context(), func(conn sqlrecord.Conn) error {
			_, err := conn.Exec(t.Context(), `UPDATE callback_job SET lease_until = 1, document = `+db.Dialect().Placeholder(1), mapping.TextValue(string(text)))
			return err
		})
		require.NoError(t, err)

		_, err = store.Change(t.Context(), "job", func(j webhook.Job) (webhook.Job, *webhook.Try, error) {
			j.State, j.Lease = webhook.Running, c.Now()
			return j, nil, nil
		})
		require.NoError(t, err)
		require.NoError(t, store.Release(context.Background()))
		newer["State"] = string(webhook.Running)
		require.Equal(t, newer, document())
	})
}
