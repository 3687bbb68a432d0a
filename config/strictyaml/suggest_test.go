package strictyaml

import (
	"flag"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// What is drawn is the same in each run; -rapid.seed has it drawn otherwise.
func init() {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}

// TestDistanceGivesUp: a bound changes no distance up to it, and none above it seems near.
func TestDistanceGivesUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringOfN(rapid.SampledFrom([]rune("abé")), 0, 9, -1)
		a, b, most := word.Draw(t, "a"), word.Draw(t, "b"), rapid.IntRange(0, 5).Draw(t, "most")
		whole, d := distance(a, b, longestSuggested), distance(a, b, most)
		if whole <= most {
			require.Equal(t, whole, d)
		} else {
			require.Greater(t, d, most)
		}
	})
}
