package follow

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping/sheet"
)

// TestSettling: what a look has read is final once it began so long after its highest modified_at was seen as
// a change may take to show, and as a column may have the same moment.
func TestSettling(t *testing.T) {
	began, minute, day := time.Now(), int64(60_000), int64(86_400_000)
	for _, row := range []struct {
		highest int64
		settle  time.Duration
		passed  time.Duration
		final   bool
	}{
		{20_000*day + 1, time.Minute, time.Hour + time.Minute, false},
		{20_000*day + 1, time.Minute, time.Hour + time.Minute + 1, true},
		{20_000*day + 1000, 0, time.Hour + 1, true},
		{20_000*day + 1000, time.Hour, 2 * time.Hour, false},
		{20_000*day + minute, time.Minute, 2 * time.Hour, false}, // it may have hours, or days
		{20_000 * day, time.Minute, 25*time.Hour + time.Minute, false},
		{20_000 * day, time.Minute, 25*time.Hour + time.Minute + 1, true},
		{0, time.Minute, 48 * time.Hour, false}, // nothing was seen
	} {
		var s settling
		require.Zero(t, s.begins(row.highest, began, row.settle))
		want := int64(0)
		if row.final {
			want = row.highest
		}
		require.Equal(t, want, s.begins(row.highest, began.Add(row.passed), row.settle), row)
		require.Zero(t, s.begins(row.highest+1, began.Add(row.passed), row.settle), "one that was not seen before")
	}
}

// TestLooksBeginBehindWhatHasSettled unless the database of the gateway knows less by now.
func TestLooksBeginBehindWhatHasSettled(t *testing.T) {
	for _, row := range []struct{ since, upTo, from int64 }{
		{100_000, 0, 40_000},
		{100_000, 30_000, 40_000},
		{100_000, 50_000, 50_001},
		{100_000, 100_000, 100_001},
		{100_000, 100_001, 40_000},
	} {
		l := look{how: sheet.Changes{Settle: time.Minute}, since: row.since, settling: &settling{upTo: row.upTo}}
		require.Equal(t, row.from, l.from(), row)
		l.settling = nil
		require.Equal(t, row.since-60_000, l.from())
	}
}
