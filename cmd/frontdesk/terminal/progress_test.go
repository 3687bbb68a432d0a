package terminal

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestProgress is lines where nobody looks, and a bar where somebody does.
func TestProgress(t *testing.T) {
	require.Equal(t, "order [############............] 1,200 of 2,400", progress("order", 1200, 2400))
	require.Equal(t, "order [########################] 2,500 of 2,400", progress("order", 2500, 2400))
	require.Equal(t, "changes: 12", progress("changes", 12, 0))
	require.Equal(t, "up to date", progress("up to date", 0, 0))

	var out, screen bytes.Buffer
	say, show := NewProgress(&out, &screen)
	show("order", 1, 2)
	say("%s: %d records", "order", 2)
	say("\x1b[2J")
	show("", 0, 0)
	require.Equal(t, "order: 2 records\n\"\\x1b[2J\"\n", out.String())
	require.Empty(t, screen.String())
}

// TestStatus ends its line once, however often it is told to: a restore says so after each part.
func TestStatus(t *testing.T) {
	var screen bytes.Buffer
	show := status(&screen)
	show("")
	require.Empty(t, screen.String())
	show("%d MiB checked", 1)
	show("")
	show("")
	require.Equal(t, clearLine+"1 MiB checked\n", screen.String())
	show("%d MiB written", 2)
	show("")
	require.Equal(t, clearLine+"1 MiB checked\n"+clearLine+"2 MiB written\n", screen.String())
}
