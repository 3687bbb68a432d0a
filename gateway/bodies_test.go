package gateway

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBodyMemoryShares: a client alone gets half, the next half of the rest, and there is always
// something left for one that has nothing. What a client was given beyond its share is counted
// for it, and only that makes it wait with writes.
func TestBodyMemoryShares(t *testing.T) {
	m := newBodyMemory(64)
	for _, step := range []struct {
		client int64
		take   int // given back, if it is below 0
		ok     bool
	}{
		{1, 16, true}, {1, 16, true}, {1, 16, false}, {1, 1, false}, // half of it is enough
		{2, 16, true}, {2, 1, false}, {3, 8, true}, {4, 4, true}, {1, -16, true}, {2, 1, true},
		{1, -16, true}, {2, -16, true}, {2, -1, true}, {3, -8, true}, {4, -4, true},
	} {
		if step.take < 0 {
			m.give(step.client, -step.take)
			continue
		}
		require.Equal(t, step.ok, m.takeNow(step.client, step.take), "%v", step)
	}
	require.Empty(t, m.taken)
	taken, waiting := m.load()
	require.Equal(t, [2]int{}, [2]int{taken, waiting})

	require.True(t, m.takeNow(1, 32))
	require.False(t, m.over(1))
	m.force(1, 40)
	require.Equal(t, [2]bool{true, false}, [2]bool{m.over(1), m.over(2)})
	require.False(t, m.takeNow(2, 1), "there is none left")
	m.give(1, 40)
	require.False(t, m.over(1))
	require.True(t, m.takeNow(2, 16))
}

// TestBodyMemoryWaits: room goes to those that wait, those that came first in
// front, and not to those who gave up, or whose patience ended.
func TestBodyMemoryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newBodyMemory(64)
		ok := make([]bool, 5)
		wait := func(n int) (giveUp context.CancelFunc) {
			ctx, giveUp := context.WithCancel(t.Context())
			go func() { _, ok[n] = m.take(ctx, 1, 32, time.Hour) }()
			synctest.Wait()
			return giveUp
		}
		wait(0)
		wait(1)()
		for n := 2; n < 5; n++ {
			wait(n)
		}
		_, waiting := m.load()
		require.Equal(t, 3, waiting)
		for n := 2; n < 4; n++ {
			m.give(1, 32)
			synctest.Wait()
			require.Equal(t, []bool{true, false, n >= 2, n >= 3, false}, ok)
		}
		time.Sleep(time.Hour - 1)
		_, waiting = m.load()
		require.Equal(t, 1, waiting)
		time.Sleep(1)
		synctest.Wait()
		_, waiting = m.load()
		require.Zero(t, waiting, "patience ends")
		require.False(t, ok[4])
	})
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
