package webhook_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zaptest"

	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
)

// meanwhile is a store in which something happens while it sums up what jobs take, and
// while it adds a job of client 1.
type meanwhile struct {
	webhook.Store
	before, after func()       // the moment that a sum is of
	add           func() error // before a job is kept
}

func (s *meanwhile) Room(ctx context.Context, linkedBefore time.Time) ([]webhook.Taken, error) {
	if f := s.before; f != nil {
		s.before = nil
		f()
	}
	all, err := s.Store.Room(ctx, linkedBefore)
	if f := s.after; f != nil {
		s.after = nil
		f()
	}
	return all, err
}

func (s *meanwhile) Add(ctx context.Context, j webhook.Job) error {
	if s.add != nil && j.Owner.User.Client.ID == 1 {
		if err := s.add(); err != nil {
			return err
		}
	}
	return s.Store.Add(ctx, j)
}

// startBusy starts an orchestrator whose work does not end before the test does.
func startBusy(t *testing.T) (p *process, s *meanwhile, c *clock, ask func(client int64) error) {
	t.Helper()
	rs, c, store := newReceivers(t), newClock(), sqliteEngine(t).open(t)
	to := rs.add(t, status(200))
	s = &meanwhile{Store: store}
	p = start(t, c, store, rs.caller(t), blobs, func(cfg *webhook.Config) { cfg.Store, cfg.Workers = s, 0 })
	return p, s, c, func(client int64) error {
		_, err := p.ask(t, client, to, 1)
		return err
	}
}

// reserved is what is set aside as far as it is known, in jobs of the first kind.
func reserved(t *testing.T, p *process) int64 {
	t.Helper()
	r := must.Have(p.Room(t.Context()))(t)
	return r.Bytes(webhook.Reserved) / (space / 16)
}

// TestRoomIsSummedUpWhileJobsCome: what is promised while somebody, /readyz for one, has it summed
// up what jobs take, counts.
func TestRoomIsSummedUpWhileJobsCome(t *testing.T) {
	t.Parallel()
	p, s, c, ask := startBusy(t)
	require.NoError(t, ask(1))
	require.EqualValues(t, 1, reserved(t, p))
	come := func() {
		require.NoError(t, ask(1))
		c.Advance(time.Second) // so long the sum takes
	}
	s.after = come
	require.EqualValues(t, 2, reserved(t, p), "it is not in the sum")
	require.EqualValues(t, 2, reserved(t, p))
	c.Advance(time.Minute)
	s.before = come
	require.EqualValues(t, 4, reserved(t, p), "it is in the sum, of which nobody knows: rather too much than too little")
	c.Advance(time.Minute)
	require.EqualValues(t, 3, reserved(t, p), "the next sum has it once")
}

// TestNobodyWaitsForAnothersPromise: a job that the store takes long to keep holds up no other, has
// its room meanwhile, and gives it back where it is not kept.
func TestNobodyWaitsForAnothersPromise(t *testing.T) {
	t.Parallel()
	p, s, c, ask := startBusy(t)
	s.before = func() { c.Advance(time.Second) } // a sum is good for a while
	require.NoError(t, ask(2))
	adding, fails := make(chan struct{}), make(chan error)
	s.add = func() error {
		adding <- struct{}{}
		return <-fails
	}
	failed := make(chan error)
	go func() { failed <- ask(1) }()
	<-adding
	require.NoError(t, ask(3))
	require.EqualValues(t, 3, reserved(t, p), "its room is set aside before it is kept")
	full := errors.New("the disk is full")
	fails <- full
	require.ErrorIs(t, <-failed, full)
	require.EqualValues(t, 2, reserved(t, p))
}

// failing is a store that cannot sum up what jobs take, once, when it is told so.
type failing struct {
	webhook.Store
	fails, failed atomic.Bool
}

func (s *failing) Room(ctx context.Context, linkedBefore time.Time) ([]webhook.Taken, error) {
	if s.fails.Swap(false) {
		s.failed.Store(true)
		return nil, errors.New("away")
	}
	return s.Store.Room(ctx, linkedBefore)
}

// TestRoomThatCannotBeAskedFor: work that grows while nobody can tell whether there is room is begun again.
func TestRoomThatCannotBeAskedFor(t *testing.T) {
	t.Parallel()
	var away failing
	p, c, store, to := working(t, sqliteEngine(t), status(200), blobs, func(cfg *webhook.Config) {
		away.Store, cfg.Store = cfg.Store, &away
		once := sync.OnceFunc(func() { away.fails.Store(true) })
		cfg.Runners["blob"] = func(ctx context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
			once()
			return blob(ctx, j, w)
		}
	})
	id := must.Have(p.ask(t, 1, to, space/2))(t)
	await.True(t, away.failed.Load, "nobody asks for room") // the clock stands still, so no sum is used again
	settle(t, c, func() bool { return store.job(t, id).State == webhook.CalledBack }, p)
	require.Empty(t, store.job(t, id).Failure)
	require.NotEmpty(t, store.job(t, id).Pauses)
}

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
			require.ErrorIs(t, must.Fail(p.ask(t, 1, to, size)), webhook.ErrNoSpace)
		}
		require.Len(t, p.fill(t, 2, to, size), 1)
		require.EqualValues(t, 1, counting.sums.Load())

		c.Advance(11 * time.Second)
		require.ErrorIs(t, must.Fail(p.ask(t, 1, to, size)), webhook.ErrNoSpace)
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
	t.Parallel()
	p, _, _, to := working(t, sqliteEngine(t), status(200), blobs, func(cfg *webhook.Config) { cfg.Store = astray{cfg.Store} })
	for range 3 {
		p.gets(t, 2, to, 1)
	}
}

// stuck is a store whose database hangs.
type stuck struct{ webhook.Store }

func (stuck) Room(ctx context.Context, _ time.Time) ([]webhook.Taken, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (stuck) Newer(ctx context.Context, _ webhook.Needs) (int, error) {
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
		require.ErrorIs(t, must.Fail(o.Accept(t.Context(), owner(1), &url.URL{}, webhook.Work{Kind: "blob"})), context.DeadlineExceeded)
	})
}
