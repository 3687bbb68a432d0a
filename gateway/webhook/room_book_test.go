package webhook_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
	r, err := p.Room(t.Context())
	require.NoError(t, err)
	return r.Bytes(webhook.Reserved) / (space / 16)
}

// TestRoomIsSummedUpWhileJobsCome: what is promised while somebody, /readyz for one, has it summed
// up what jobs take, counts.
func TestRoomIsSummedUpWhileJobsCome(t *testing.T) {
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
