package sqltest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPortsOfTwoProcesses: two that look among the same ports are never given the same
// one, although nothing listens on what they were given.
func TestPortsOfTwoProcesses(t *testing.T) {
	one, other := &ports{first: 9000, blocks: 20}, &ports{first: 9000, blocks: 20}
	given := map[int]bool{}
	for range blockSize { // more than a block has beside its first
		for _, p := range []*ports{one, other} {
			port, err := p.take()
			require.NoError(t, err)
			require.False(t, given[port], port)
			given[port] = true
		}
	}
	for _, l := range append(one.taken, other.taken...) {
		require.NoError(t, l.Close())
	}
}

// TestPortsEnd: where all blocks are taken, none is made up.
func TestPortsEnd(t *testing.T) {
	one, other := &ports{first: 8400, blocks: 1}, &ports{first: 8400, blocks: 1}
	_, err := one.take()
	require.NoError(t, err)
	_, err = other.take()
	require.ErrorIs(t, err, errNoPort)
	require.NoError(t, one.taken[0].Close())
}
