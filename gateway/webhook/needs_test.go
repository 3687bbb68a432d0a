package webhook_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// TestWorkIsLeftToThoseWhoKnowIt has an older process leave alone what a newer one
// promised, and tell of it once; its own work goes on.
func TestWorkIsLeftToThoseWhoKnowIt(t *testing.T) {
	t.Parallel()
	for _, needs := range []webhook.Needs{{Format: webhook.Format + 1, Model: 1}, {Format: webhook.Format, Model: 2}} {
		alone(t, func(t *testing.T, e engine) {
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

			n := must.Have(store.Newer(t.Context(), needs))(t)
			require.Zero(t, n, "who knows it leaves nothing")
			next := must.Have(store.NextWork(t.Context(), c.Now(), needs, nil))(t)
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
		text := must.Have(json.Marshal(newer))(t)
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

// TestPendingIsWhatIsCalled: what is told to be due is what is called next, by client.
func TestPendingIsWhatIsCalled(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		store, now := e.open(t), newClock().Now()
		add := func(id string, client int64, state webhook.State, next, lease, failing time.Duration) {
			t.Helper()
			j := webhook.Job{
				ID: id, Owner: owner(client), Callback: "https://" + id + ".example/", State: state,
				Created: now, Finished: now, NextTry: now.Add(next),
			}
			if lease != 0 {
				j.Lease = now.Add(lease)
			}
			if failing != 0 {
				j.Failing = now.Add(failing)
			}
			require.NoError(t, store.Add(t.Context(), j))
		}
		add("a", 1, webhook.Done, -time.Hour, 0, 0)
		add("b", 2, webhook.Done, -2*time.Hour, 0, -3*time.Hour)
		add("c", 2, webhook.Failed, -time.Minute, -time.Second, 0) // whoever called it died
		add("d", 3, webhook.Done, -4*time.Hour, time.Second, 0)    // is being called
		add("e", 3, webhook.Done, time.Second, 0, -time.Minute)
		add("f", 4, webhook.Collected, -5*time.Hour, 0, 0) // nobody calls it

		due := must.Have(store.DueCalls(t.Context(), now, 100, nil))(t)
		called := map[int64]int{}
		for _, j := range due {
			called[j.Owner.User.Client.ID]++
		}
		p := must.Have(store.Pending(t.Context(), now))(t)
		told := map[int64]int{}
		for _, c := range p.Due {
			told[c.Client] = c.Jobs
		}
		require.Equal(t, called, told)
		require.Equal(t, []webhook.OfClient{{Client: 2, Jobs: 2, Since: now.Add(-2 * time.Hour), Job: "b"}, {Client: 1, Jobs: 1, Since: now.Add(-time.Hour), Job: "a"}}, p.Due)
		require.Equal(t, []webhook.OfClient{{Client: 2, Jobs: 1, Since: now.Add(-3 * time.Hour), Job: "b"}, {Client: 3, Jobs: 1, Since: now.Add(-time.Minute), Job: "e"}}, p.Failing)
	})
}

// Work whose key somebody else has holds no worker, over a restart, and ends ten
// minutes after it was first begun.
func TestWorkWhoseKeyIsInUseEnds(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c := newReceivers(t), newClock()
		to := rs.add(t, status(200))
		var looks atomic.Int32
		inUse := func(cfg *webhook.Config) {
			cfg.Runners["waits"] = func(context.Context, webhook.Job, io.Writer) (webhook.Content, error) {
				looks.Add(1)
				return webhook.Content{}, fmt.Errorf("%w: by another", webhook.ErrInUse)
			}
		}
		p := start(t, c, e.open(t), rs.caller(t), inUse)
		began := c.Now()
		var ids []string
		for range 3 { // more than there are workers
			ids = append(ids, p.accept(t, to, "waits"))
		}
		asleep := func(until time.Duration) {
			t.Helper()
			for _, id := range ids {
				p.store.until(t, func() bool { p.look(); return p.store.job(t, id).Lease.Equal(began.Add(until)) })
			}
		}
		asleep(time.Second)
		j := p.store.job(t, ids[0])
		require.Equal(t, webhook.Running, j.State)
		require.Zero(t, j.Claims, "to wait is none of the times that work is begun")
		require.Equal(t, []webhook.Pause{{Since: began, For: "its Idempotency-Key is in use"}}, j.Pauses)
		p.store.untilState(t, p.accept(t, to, "echo"), webhook.CalledBack)
		c.Advance(5 * time.Minute)
		asleep(5*time.Minute + 30*time.Second) // it looks more seldom as it waits

		c.Advance(4*time.Minute + 50*time.Second)
		require.NoError(t, p.Close())
		p = start(t, c, e.open(t), rs.caller(t), inUse)
		asleep(10 * time.Minute)
		require.Equal(t, webhook.Running, p.store.job(t, ids[0]).State)
		c.Advance(10*time.Second + time.Millisecond)
		for _, id := range ids {
			p.store.until(t, func() bool { p.look(); return p.store.job(t, id).State != webhook.Running })
		}
		for _, id := range ids {
			settle(t, c, func() bool { return p.store.job(t, id).State == webhook.CalledBack }, p)
			j = p.store.job(t, id)
			require.Equal(t, "outcome unknown: it waited for 10m0s: its Idempotency-Key is in use: by another", j.Failure)
			require.Len(t, j.Pauses, 1, "a cause is told once")
			require.Equal(t, 10*time.Minute+time.Millisecond, j.Finished.Sub(began))
		}
		require.EqualValues(t, 4*len(ids), looks.Load())
	})
}

// Who is to stop begins nothing more, and lets the work under way end.
func TestShutdownLetsWorkEnd(t *testing.T) {
	t.Parallel()
	rs, c, e := newReceivers(t), newClock(), sqliteEngine(t)
	to := rs.add(t, status(200))
	running, finish := make(chan struct{}), make(chan struct{})
	p := start(t, c, e.open(t), rs.caller(t), func(cfg *webhook.Config) {
		cfg.Workers = 1
		cfg.Runners["waits"] = func(ctx context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
			close(running)
			<-finish
			return echo(ctx, j, w)
		}
	})
	id := p.accept(t, to, "waits")
	<-running
	later := p.accept(t, to, "echo")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, p.Shutdown(over), context.Canceled, "it waits no longer than it is told to")
	close(finish)
	require.NoError(t, p.Shutdown(t.Context()))
	j := p.store.job(t, id)
	require.Equal(t, webhook.Done, j.State)
	require.Zero(t, j.Tries)
	require.NoError(t, p.Close())
	require.Equal(t, webhook.Accepted, p.store.job(t, later).State)

	again := start(t, c, e.open(t), rs.caller(t))
	again.look()
	again.store.untilState(t, id, webhook.CalledBack)
	again.store.untilState(t, later, webhook.CalledBack)
}

// However much work of a client hangs, others find a worker.
func TestAClientsWorkLeavesWorkersToOthers(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c := newReceivers(t), newClock()
		to := rs.add(t, status(200))
		hanging := make(chan struct{}, 10)
		p := start(t, c, e.open(t), rs.caller(t), func(cfg *webhook.Config) {
			cfg.Workers = 4
			cfg.Runners["hangs"] = func(ctx context.Context, _ webhook.Job, _ io.Writer) (webhook.Content, error) {
				hanging <- struct{}{}
				<-ctx.Done()
				return webhook.Content{}, ctx.Err()
			}
		})
		for range cap(hanging) {
			p.accept(t, to, "hangs")
		}
		<-hanging
		<-hanging
		for client := range int64(5) {
			id := p.acceptOf(t, 2+client, to, "echo")
			p.look()
			p.store.untilState(t, id, webhook.CalledBack)
		}
		require.Empty(t, hanging, "half of the workers, and no more")
	})
}
