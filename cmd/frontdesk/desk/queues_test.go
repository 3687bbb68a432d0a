package desk

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestQueuesThatFill: a queue is told of once it was full for half a minute, and until it was
// not for a minute, so that /readyz does not change with each burst.
func TestQueuesThatFill(t *testing.T) {
	used := 0
	one := &queue{full: halfFull, load: func() (int, int) { return used, 10 }, words: func(worst, most, now int) string { return fmt.Sprint(worst, " of ", most, ", now ", now) }}
	all := &queues{all: []*queue{one}}
	after := func(is, looks int) []string {
		used = is
		for range looks {
			all.look()
		}
		now := Health{Status: HealthOK}
		all.judge(&now)
		require.Equal(t, now.Status != HealthOK, len(now.Reasons) > 0)
		return now.Reasons
	}
	require.Empty(t, after(4, 20), "less than half")
	require.Empty(t, after(10, 4), "a burst")
	require.Empty(t, after(0, 1))
	require.Empty(t, after(5, 4), "another: they do not add up")
	require.Equal(t, []string{"5 of 10, now 5"}, after(5, 1))
	require.Equal(t, []string{"5 of 10, now 4"}, after(4, 9), "what it was, and is now")
	require.Equal(t, []string{"9 of 10, now 9"}, after(9, 1))
	require.Equal(t, []string{"9 of 10, now 0"}, after(0, 9))
	require.Empty(t, after(0, 1))
	require.Empty(t, after(10, 4))
	require.Empty(t, after(0, 1))
	require.Equal(t, []string{"6 of 10, now 6"}, after(6, 5), "what was before is over")

	require.True(t, allTaken(4, 4))
	require.False(t, allTaken(3, 4), "half of a pool is taken by day")
	require.False(t, allTaken(0, 0), "a pool that tells no limit")
	require.False(t, halfFull(0, 0), "nobody may wait")
}
