package sheet

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/mapping"
)

func TestSinceIsNeverEarlier(t *testing.T) {
	day, clock := layoutOf(t, "yyyyMMdd"), layoutOf(t, "HHmmss")
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
		raw, clock := c.codec.since(at.UnixMilli())
		require.Equal(t, []string{c.day, c.clock}, []string{raw.Text, clock.Text}, c.at)
	}
}

// wallIn is of texts of what a clock showed, which compare as they are.
func wallIn(loc *time.Location) *codec {
	return &codec{field: &mapping.Field{Type: mapping.Timestamp}, loc: loc, system: sysDatetime, isoText: true}
}

// jump is when a clock was put back or on, and by how much.
type jump struct{ at, by int64 }

type zone struct {
	*time.Location
	jumps []jump
}

// jumpsOf are those since 1970.
func jumpsOf(loc *time.Location) (all []jump) {
	for t := time.Unix(0, 0).In(loc); t.Year() < 2040; {
		_, end := t.ZoneBounds()
		if end.IsZero() {
			break
		}
		at := end.UnixMilli()
		if by := offset(at, loc) - offset(at-1, loc); by != 0 {
			all = append(all, jump{at, by})
		}
		t = end
	}
	return all
}

// zones are those of the system's zone database whose clocks jump, or a few where it
// has none, with their jumps.
var zones = sync.OnceValue(func() (all []zone) {
	names := []string{"Europe/Amsterdam", "America/New_York", "Australia/Lord_Howe", "Africa/Casablanca", "Pacific/Apia", "America/St_Johns", "Asia/Tehran", "Antarctica/Troll"}
	const root = "/usr/share/zoneinfo"
	_ = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, strings.TrimPrefix(path, root+string(os.PathSeparator)))
		}
		return nil
	})
	for _, name := range names {
		loc, err := time.LoadLocation(name)
		if err != nil || strings.HasPrefix(name, "right/") || strings.HasPrefix(name, "posix") {
			continue // with leap seconds, which nobody's clock shows; the same again
		}
		if jumps := jumpsOf(loc); len(jumps) > 0 {
			all = append(all, zone{loc, jumps})
		}
	}
	return all
})

// TestSinceMissesNothing: whatever was changed at or after the instant is found, and so
// is what is answered as changed then; who goes on from the time that a record is
// answered with misses nothing that was changed after it. Not much more is found.
func TestSinceMissesNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := zones()[rapid.IntRange(0, len(zones())-1).Draw(t, "zone")]
		j, loc := rapid.SampledFrom(in.jumps).Draw(t, "jump"), in.Location
		most := max(j.by, -j.by)
		near := func(label string) int64 { return j.at + rapid.Int64Range(-3*most, 3*most).Draw(t, label) }
		c := wallIn(loc)
		bound := func(ms int64) string {
			raw, _ := c.since(ms)
			return raw.Text
		}
		text := func(ms int64) string {
			raw, _ := c.writeTime(ms)
			return raw.Text
		}
		read := func(text string) int64 {
			v, why := c.read(textRaw(text), Raw{})
			if why != "" {
				t.Fatal(why)
			}
			return v.Int()
		}
		since := near("since")
		changed := since + rapid.Int64Range(0, 6*most).Draw(t, "after")
		if text(changed) < bound(since) {
			t.Fatalf("%s: changed at %v, not found since %v: %s is before %s", loc, changed, since, text(changed), bound(since))
		}
		if seen := read(text(since)); text(changed) < bound(seen) {
			t.Fatalf("%s: changed at %v, not found since %v, as a record of before was answered", loc, changed, seen)
		}
		any := string(isoWall.append(nil, WallOf(near("wall"), loc)+rapid.Int64Range(-most, most).Draw(t, "off")))
		if read(any) >= since && any < bound(since) {
			t.Fatalf("%s: %s is answered as %v, and not found since %v", loc, any, read(any), since)
		}
		early := since - 2*most - 1
		if far := since < j.at-most || since >= j.at+most; text(early) >= bound(since) || far && bound(since) != text(since) {
			if !in.others(j, 8*most) {
				t.Fatalf("%s: since %v is from %s on, which is much more", loc, since, bound(since))
			}
		}
	})
}

// others tells of other jumps within some time.
func (z zone) others(of jump, within int64) bool {
	for _, j := range z.jumps {
		if j != of && j.at > of.at-within && j.at < of.at+within {
			return true
		}
	}
	return false
}

// TestRangesWithinReach: before, a bound on the last day was taken for none.
func TestRangesWithinReach(t *testing.T) {
	moment := &Field{From: []string{"AT"}}
	moment.Field = &mapping.Field{Type: mapping.Timestamp}
	moment.codec = codec{field: moment.Field, loc: time.UTC, system: sysDatetime}
	r := &Resource{Fields: []Field{*moment}, sheet: &Sheet{}}
	at := time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
	b := r.Range(moment.Field, mapping.Above, mapping.MilliValue(at.UnixMilli()))
	require.Equal(t, "9999-12-31T00:00:00.001", b.At[0].Value.String())
	require.False(t, b.Before)
}

// TestRangeForEver: what is asked "until for ever" finds every time, and what is asked from
// then on none, whichever years a system can say.
func TestRangeForEver(t *testing.T) {
	day := &Field{From: []string{"DAY"}}
	day.Field = &mapping.Field{Type: mapping.Timestamp}
	day.codec = codec{field: day.Field, loc: amsterdam, system: sysText, format: layoutOf(t, "yyyyMMdd")}
	r := &Resource{Fields: []Field{*day}, sheet: &Sheet{Source: Source{SQL: &SQL{}}}}
	for _, c := range []struct {
		op     mapping.Operator
		at     string
		text   string
		before bool
	}{
		{mapping.AtMost, "9999-12-31T23:59:59.999Z", "00010103", false},
		{mapping.Below, "9999-12-31T23:59:59Z", "00010103", false},
		{mapping.AtLeast, "9999-12-31T23:59:59Z", "00010103", true},
		{mapping.Above, "9999-12-31T23:59:59.999Z", "00010103", true},
		{mapping.AtMost, "9999-12-30T23:00:00Z", "00010103", false}, // the last day that four digits say
		{mapping.AtLeast, "9999-12-30T23:00:00Z", "99991231", false},
		{mapping.AtLeast, "0001-01-01T00:00:00Z", "00010103", false},
	} {
		at, err := time.Parse(time.RFC3339, c.at)
		require.NoError(t, err)
		b := r.Range(day.Field, c.op, mapping.MilliValue(at.UnixMilli()))
		require.Equal(t, c.before, b.Before, c.at)
		require.Equal(t, c.text, b.At[0].Value.Text, "%v %s", c.op, c.at)
		// A service is not asked for what it cannot be told.
		_, raw, sent := r.Operand(&Request{uses: map[string]bool{operand("", c.op): true}}, day.Field, c.op, mapping.MilliValue(at.UnixMilli()))
		require.Equal(t, len(raw.Text) == len("99991231") && raw.Text >= "00010102" && raw.Text <= "99991231", sent, "%v %s: %s", c.op, c.at, raw)
	}
}
