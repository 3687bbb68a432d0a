package gateway

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/await"
)

// TestBodyMemoryShares: a client alone gets half, the next half of the rest, and
// there is always something left for one that has nothing.
func TestBodyMemoryShares(t *testing.T) {
	m := newBodyMemory(64)
	gone, cancel := context.WithCancel(context.Background())
	cancel() // nobody waits
	take := func(client int64, size int) bool {
		_, ok := m.take(gone, client, size, time.Hour)
		return ok
	}
	require.True(t, take(1, 16))
	require.True(t, take(1, 16))
	require.False(t, take(1, 16), "half of it is enough")
	require.False(t, take(1, 1))
	require.True(t, take(2, 16))
	require.False(t, take(2, 1))
	require.True(t, take(3, 8))
	require.True(t, take(4, 4))
	m.give(1, 16)
	require.True(t, take(2, 1))
	for _, given := range []struct {
		client int64
		size   int
	}{{1, 16}, {2, 16}, {2, 1}, {3, 8}, {4, 4}} {
		m.give(given.client, given.size)
	}
	require.Empty(t, m.taken)
	taken, waiting := m.load()
	require.Zero(t, taken)
	require.Zero(t, waiting)
}

// TestBodyMemoryOver: what a client was given beyond its share is counted for it, and
// only that makes it wait with writes.
func TestBodyMemoryOver(t *testing.T) {
	m := newBodyMemory(64)
	require.True(t, m.takeNow(1, 32))
	require.False(t, m.over(1))
	m.force(1, 40)
	require.True(t, m.over(1))
	require.False(t, m.over(2))
	require.False(t, m.takeNow(2, 1), "there is none left")
	m.give(1, 40)
	require.False(t, m.over(1))
	require.True(t, m.takeNow(2, 16))
}

// TestBodyMemoryWaits: room goes to those that wait, those that came first in
// front, and not to those who gave up.
func TestBodyMemoryWaits(t *testing.T) {
	m := newBodyMemory(64)
	_, ok := m.take(context.Background(), 1, 32, 0)
	require.True(t, ok)
	type outcome struct {
		n  int
		ok bool
	}
	outcomes := make(chan outcome, 3)
	wait := func(n, waiting int) (giveUp context.CancelFunc) {
		ctx, giveUp := context.WithCancel(context.Background())
		go func() {
			_, ok := m.take(ctx, 1, 32, time.Hour)
			outcomes <- outcome{n, ok}
		}()
		await.True(t, func() bool { _, now := m.load(); return now == waiting })
		return giveUp
	}
	wait(1, 1)()
	require.Equal(t, outcome{1, false}, <-outcomes)
	defer wait(2, 1)()
	defer wait(3, 2)()
	for n := 2; n <= 3; n++ {
		m.give(1, 32)
		require.Equal(t, outcome{n, true}, <-outcomes)
	}
	_, ok = m.take(context.Background(), 1, 32, time.Nanosecond)
	require.False(t, ok, "patience ends")
}

// TestBodyMemoryReleases: what was given back is released once.
func TestBodyMemoryReleases(t *testing.T) {
	m := newBodyMemory(64 << 20)
	_, ok := m.take(context.Background(), 1, worthReleasing, 0)
	require.True(t, ok)
	require.Empty(t, m.spent)
	m.give(1, worthReleasing)
	<-m.spent
	m.give(1, 0)
	require.Empty(t, m.spent)
}
