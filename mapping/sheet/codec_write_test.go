package sheet

import (
	"testing"
	"time"

	"frontdesk/mapping"

	"github.com/stretchr/testify/require"
)

// TestEndsOfTheCalendar: before, a time at which a clock of the system shows year 0 or 10000 was
// written as another one, which the database kept or refused, and the answer was 500.
func TestEndsOfTheCalendar(t *testing.T) {
	moment := mapping.Field{Name: "f", Type: mapping.Timestamp}
	last, beyond, first := "9999-12-31T22:59:59.999Z", "9999-12-31T23:00:00Z", "0001-01-01T00:00:00Z"
	newYork, err := time.LoadLocation("America/New_York")
	require.NoError(t, err)
	of := func(text string) mapping.Value {
		v, bad := moment.Parse(text, time.UTC)
		if bad != nil {
			t.Fatal(bad)
		}
		return v
	}
	for name, c := range map[string]codec{
		"datetime": {system: sysDatetime}, "date": {system: sysDate}, "text": {system: sysText, isoText: true, format: isoWall},
		"digits": {system: sysInteger, format: layoutOf(t, "yyyyMMdd")}, "two places": {system: sysDate, clock: layoutOf(t, "HHmm")},
	} {
		c.field = &moment
		for _, at := range []struct {
			zone *time.Location
			text string
			ok   bool
		}{{amsterdam, last, true}, {amsterdam, beyond, false}, {newYork, beyond, true}, {newYork, first, false}, {amsterdam, "0001-01-02T00:00:00Z", true}} {
			c.loc = at.zone
			v := of(at.text)
			if _, _, e := c.write(v); (e == nil) != at.ok || e != nil && e.Reason != mapping.TimestampInvalid {
				t.Errorf("%s in %s: %s: %v", name, at.zone, at.text, e)
			}
			if found := c.alternatives(v); !at.ok && len(found) > 0 {
				t.Errorf("%s in %s: %s: looked for as %v", name, at.zone, at.text, found)
			}
		}
	}
	for raw, want := range map[Raw]string{
		{Kind: RawWall, Int: time.Date(12026, 7, 1, 10, 0, 0, 0, time.UTC).UnixMilli()}: "12026-07-01T10:00:00.000", // before, 2026
		{Kind: RawTime, Int: time.Date(-4712, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()}:  "-4712-01-01T00:00:00.000Z",
	} {
		if got := raw.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestISOReadsBack: of a time that is written in ISO 8601 says need not look.
func TestISOReadsBack(t *testing.T) {
	c := codec{field: &mapping.Field{Name: "f", Type: mapping.Timestamp}, loc: amsterdam, system: sysText, isoText: true}
	if !c.writesISO() {
		t.Fatal("not in ISO 8601")
	}
	for _, off := range []int64{0, 1, 59_999, 3_599_999, dayLength - 1, dayLength, 31*dayLength + 1, 366 * dayLength} {
		for ms := minMilli + off; ms <= maxMilli; ms += 97*dayLength + 1_234_567 {
			for _, ms := range [...]int64{ms, minMilli + maxMilli - ms} {
				v := mapping.MilliValue(ms)
				raw, clock := c.writePlain(v)
				if got, why := c.read(raw, clock); got != v || why != "" || !c.says(v, raw, clock) {
					t.Fatalf("%s is written as %s, and reads as %s: %s", v, raw, got, why)
				}
			}
		}
	}
	for _, ms := range []int64{minMilli - 1, maxMilli + 1} {
		v := mapping.MilliValue(ms)
		if raw, clock := c.writePlain(v); c.says(v, raw, clock) {
			t.Errorf("%d is written as %s", ms, raw)
		}
	}
}
