package desk

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSpareRoomIsWhole: of spare room that a crash left unfinished, or that was taken in
// part, the rest is made again, and what is there is left alone.
func TestSpareRoomIsWhole(t *testing.T) {
	s := spareOf(t.TempDir() + "/records.db")
	require.NoError(t, os.WriteFile(string(s), []byte("begun"), 0o600))
	require.NoError(t, s.keep())
	first, err := os.ReadFile(string(s))
	require.NoError(t, err)
	require.Len(t, first, spareSize)
	require.NoError(t, s.keep())
	again, err := os.ReadFile(string(s))
	require.NoError(t, err)
	require.Equal(t, first, again)

	require.True(t, s.release())
	require.NoError(t, s.keep())
	again, err = os.ReadFile(string(s))
	require.NoError(t, err)
	require.Len(t, again, spareSize)
	require.Equal(t, first[:spareSize-sparePart], again[:spareSize-sparePart])
	for range spareSize / sparePart {
		require.True(t, s.release())
	}
	require.NoFileExists(t, string(s))
	require.False(t, s.release())
}
