package terminal

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStatus ends its line once, however often it is told to: a restore says so after each part.
func TestStatus(t *testing.T) {
	var screen bytes.Buffer
	show := status(&screen)
	show("")
	require.Empty(t, screen.String())
	show("%d MiB checked", 1)
	show("")
	show("")
	require.Equal(t, "\r\x1b[K1 MiB checked\n", screen.String())
	show("%d MiB written", 2)
	show("")
	require.Equal(t, "\r\x1b[K1 MiB checked\n"+"\r\x1b[K2 MiB written\n", screen.String())
}
