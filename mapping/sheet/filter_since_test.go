package sheet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

func TestSinceIsNeverEarlier(t *testing.T) {
	amsterdam, err := time.LoadLocation("Europe/Amsterdam")
	require.NoError(t, err)
	day, err := newLayout("yyyyMMdd")
	require.NoError(t, err)
	clock, err := newLayout("HHmmss")
	require.NoError(t, err)
	field := &mapping.Field{Type: mapping.Timestamp}
	seconds := codec{field: field, loc: amsterdam, system: sysText, format: day, clock: clock}
	days := codec{field: field, loc: amsterdam, system: sysText, format: day}
	for _, c := range []struct {
		codec      codec
		at         string
		day, clock string
	}{
		{seconds, "2026-07-01T10:00:00.000Z", "20260701", "120000"},
		{seconds, "2026-07-01T10:00:00.001Z", "20260701", "120001"},
		{seconds, "2026-07-01T21:59:59.999Z", "20260702", "000000"},
		{days, "2026-06-30T22:00:00.000Z", "20260701", ""},
		{days, "2026-06-30T22:00:00.001Z", "20260702", ""},
		{days, "2026-03-28T23:00:00.001Z", "20260330", ""}, // the 29th has 23 hours
		{days, "2026-10-24T22:00:00.001Z", "20261026", ""}, // the 25th has 25
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		require.NoError(t, err)
		raw, clock := c.codec.writeTime(c.codec.notBefore(at.UnixMilli()))
		require.Equal(t, []string{c.day, c.clock}, []string{raw.Text, clock.Text}, c.at)
	}
}
