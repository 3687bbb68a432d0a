package webhook_test

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook"
)

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
			settleUntil(t, c, p, func() bool { return p.store.job(t, id).State == webhook.CalledBack })
			j = p.store.job(t, id)
			require.Equal(t, "outcome unknown: it waited for 10m0s: its Idempotency-Key is in use: by another", j.Failure)
			require.Len(t, j.Pauses, 1, "a cause is told once")
			require.Equal(t, 10*time.Minute+time.Millisecond, j.Finished.Sub(began))
		}
		require.EqualValues(t, 4*len(ids), looks.Load())
	})
}

// What may have been done is not begun again by who comes after a stop.
func TestUnknownWorkIsNotBegunAgain(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c := newReceivers(t), newClock()
		to := rs.add(t, status(200))
		running := make(chan struct{}, 2)
		sends := func(cfg *webhook.Config) {
			cfg.Runners["sends"] = func(ctx context.Context, _ webhook.Job, _ io.Writer) (webhook.Content, error) {
				running <- struct{}{}
				<-ctx.Done()
				return webhook.Content{}, fmt.Errorf("%w: %w", webhook.ErrUnknown, ctx.Err())
			}
		}
		first := start(t, c, e.open(t), rs.caller(t), sends)
		id := first.accept(t, to, "sends")
		<-running
		require.NoError(t, first.Close())
		require.Equal(t, webhook.Failed, first.store.job(t, id).State)

		second := start(t, c, e.open(t), rs.caller(t), sends)
		second.look()
		j := second.store.untilState(t, id, webhook.CalledBack)
		require.Equal(t, "outcome unknown: context canceled", j.Failure)
		require.Empty(t, running)
	})
}

// Who is to stop begins nothing more, and lets the work under way end.
func TestShutdownLetsWorkEnd(t *testing.T) {
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
			id, err := p.Accept(t.Context(), owner(2+client), to, webhook.Work{Kind: "echo", Data: []byte("hello")})
			require.NoError(t, err)
			p.look()
			p.store.untilState(t, id, webhook.CalledBack)
		}
		require.Empty(t, hanging, "half of the workers, and no more")
	})
}
