package search

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTheShortestWayIsTold: of three coins, where a step turns one.
func TestTheShortestWayIsTold(t *testing.T) {
	coins := Protocol[[3]bool, [3]bool]{Key: func(w [3]bool) [3]bool { return w }, Next: func(w [3]bool, step func(string, [3]bool, string)) {
		for i, name := range []string{"one", "two", "three"} {
			after := w
			after[i] = !w[i]
			wrong := ""
			if after == [3]bool{true, false, true} {
				wrong = "the outer two"
			}
			step(name, after, wrong)
		}
	}}
	worlds, wrong := coins.Search()
	require.Equal(t, "the outer two: the start; one; three", wrong)
	require.Less(t, worlds, 9)

	next := coins.Next
	coins.Next = func(w [3]bool, step func(string, [3]bool, string)) {
		if !w[1] { // it stays
			next(w, func(event string, after [3]bool, _ string) { step(event, after, "") })
		}
	}
	coins.Ended = func(w [3]bool) bool { return w[0] && !w[1] }
	worlds, wrong = coins.Search()
	require.Equal(t, 8, worlds)
	require.Equal(t, "there is no way to an end: the start; two", wrong)
}
