package webhook_test

import (
	"context"
	"crypto/rand"
	"net/url"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/gateway/webhook"
)

// dear is a store in which it costs time to sum up what jobs take, as it does where there
// are many.
type dear struct {
	webhook.Store
	clock *clock
	cost  time.Duration
	sums  atomic.Int64
}

func (s *dear) Room(ctx context.Context, linkedBefore time.Time) ([]webhook.Taken, error) {
	s.sums.Add(1)
	s.clock.Advance(s.cost)
	return s.Store.Room(ctx, linkedBefore)
}

// TestRoomIsNotSummedUpForEachJob: what jobs take is summed up again after ten times as long as
// that took, and no mistake is made meanwhile.
func TestRoomIsNotSummedUpForEachJob(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c, store := newReceivers(t), newClock(), e.open(t)
		to := rs.add(t, status(200))
		counting := &dear{Store: store, clock: c, cost: time.Second}
		p := start(t, c, store, rs.caller(t), blobs, func(cfg *webhook.Config) { cfg.Store = counting })
		const size = space / 8
		require.Len(t, p.fill(t, 1, to, size), 6)
		for range 50 {
			_, err := p.ask(t, 1, to, size)
			require.ErrorIs(t, err, webhook.ErrNoSpace)
		}
		require.Len(t, p.fill(t, 2, to, size), 1)
		require.EqualValues(t, 1, counting.sums.Load())

		c.Advance(11 * time.Second)
		_, err := p.ask(t, 1, to, size)
		require.ErrorIs(t, err, webhook.ErrNoSpace)
		require.EqualValues(t, 2, counting.sums.Load(), "others may have changed it")
	})
}

// astray is a store that takes for spent what is not.
type astray struct{ webhook.Store }

func (s astray) Room(context.Context, time.Time) ([]webhook.Taken, error) {
	return []webhook.Taken{{Client: 1, Kind: "other", Stage: webhook.Spent, Jobs: 1, Bytes: space}}, nil
}

func (s astray) Spent(ctx context.Context, _ time.Time, most int) ([]webhook.Job, error) {
	return s.List(ctx, webhook.Filter{Limit: most})
}

// TestNothingThatGivesWay: the search for room ends where what seems spent does not go.
func TestNothingThatGivesWay(t *testing.T) {
	rs, c, store := newReceivers(t), newClock(), sqliteEngine(t).open(t)
	to := rs.add(t, status(200))
	p := start(t, c, store, rs.caller(t), blobs, func(cfg *webhook.Config) { cfg.Store = astray{store} })
	for range 3 {
		id, err := p.ask(t, 2, to, 1)
		require.NoError(t, err)
		store.untilState(t, id, webhook.CalledBack)
	}
}

// stuck is a store whose database hangs.
type stuck struct{ webhook.Store }

func (stuck) Room(ctx context.Context, _ time.Time) ([]webhook.Taken, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stuck) Beyond(ctx context.Context, _ webhook.Needs) (int, error) {
	<-ctx.Done()
	return 0, ctx.Err()
}

func (stuck) Forget(ctx context.Context, _ time.Time) error {
	<-ctx.Done()
	return ctx.Err()
}

func (stuck) DueCalls(ctx context.Context, _ time.Time, _ int, _ []int64) ([]webhook.Job, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestNobodyWaitsForRoomForLong: who finds no room in time is told to come again.
func TestNobodyWaitsForRoomForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := webhook.Start(webhook.Config{Store: stuck{}, Clock: time.Now, Random: rand.Reader, Log: zaptest.NewLogger(t), Tick: make(chan time.Time)})
		defer func() { require.NoError(t, o.Close()) }()
		_, err := o.Accept(t.Context(), owner(1), &url.URL{}, webhook.Work{Kind: "blob"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}
