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
	p := &ports{first: 9000}
	_, err := p.take()
	require.ErrorIs(t, err, errNoPort)
}
