package terminal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTimesNameTheirZone, which is that of the machine, in summer and in winter.
func TestTimesNameTheirZone(t *testing.T) {
	zone, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	was := time.Local
	t.Cleanup(func() { time.Local = was })
	time.Local = zone
	summer := time.Date(2026, 7, 1, 10, 0, 9, 0, time.UTC)
	require.Equal(t, "2026-07-01 12:00 CEST", Minute(summer))
	require.Equal(t, "2026-12-01 11:00:09 CET", Second(summer.AddDate(0, 5, 0)))
	require.Equal(t, "-", Second(time.Time{}))
}
