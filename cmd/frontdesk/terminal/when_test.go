package terminal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func whenOf(t *testing.T, text string) (w When) {
	t.Helper()
	require.NoError(t, w.UnmarshalText([]byte(text)))
	return w
}

// TestWhen: what the clock said is of today, or of yesterday.
func TestWhen(t *testing.T) {
	now := time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"02:13": "2026-11-22T02:13:00Z", "09:00": "2026-11-22T09:00:00Z", "09:01": "2026-11-21T09:01:00Z", "23:59:30": "2026-11-21T23:59:30Z", "00:00": "2026-11-22T00:00:00Z",
		"14d": "2026-11-08T09:00:00Z", "36h": "2026-11-20T21:00:00Z", "2026-11-01T12:00:00Z": "2026-11-01T12:00:00Z",
		"2026-11-01": time.Date(2026, 11, 1, 0, 0, 0, 0, time.Local).UTC().Format(time.RFC3339),
	} {
		require.Equal(t, want, whenOf(t, text).From(now).UTC().Format(time.RFC3339), text)
	}
	for _, text := range []string{"", "d", "-3d", "-5h", "2026-13-01", "99999d"} {
		require.Error(t, new(When).UnmarshalText([]byte(text)), text)
	}
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	require.Equal(t, "2026-03-29T12:00:00+02:00", whenOf(t, "12:00").From(time.Date(2026, 3, 29, 13, 0, 0, 0, amsterdam)).Format(time.RFC3339), "the day has 23 hours")
	require.True(t, When{}.From(now).IsZero())
	require.True(t, whenOf(t, "0d").From(now).IsZero())
}
