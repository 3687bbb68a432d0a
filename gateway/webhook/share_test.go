package webhook

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRoomIsSharedInTheEnd: those who want all have the same once what they had is gone.
func TestRoomIsSharedInTheEnd(t *testing.T) {
	r := Room{Space: 1 << 20}
	has := map[int64]int64{1: 700_000}
	for range 200 {
		for client := range int64(10) {
			has[client+1] -= has[client+1] / 10 // is fetched, and gives way
			r.All = nil
			for c, bytes := range has {
				r.All = append(r.All, Taken{Client: c, Stage: Kept, Bytes: bytes})
			}
			has[client+1] += r.more(client + 1)
		}
	}
	for client, bytes := range has {
		require.InDelta(t, 3*(1<<20)/31, bytes, 10_000, "client %d", client)
	}
}
