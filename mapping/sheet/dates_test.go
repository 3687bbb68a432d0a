package sheet

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestCivil: the days that there are, and their milliseconds, are those of the time package.
func TestCivil(t *testing.T) {
	for year := -1; year < 10_000; year++ {
		if year == 900 {
			year = 1500
		}
		for month := -1; month <= 13; month++ {
			for day := -1; day <= 32; day++ {
				want := time.Date(year, time.Month(month), day, 23, 59, 58, 999e6, time.UTC)
				there := year >= 1 && want.Year() == year && want.Month() == time.Month(month) && want.Day() == day
				ms, ok := civil(year, month, day, 23, 59, 58, 999)
				if ok != there || ok && ms != want.UnixMilli() {
					t.Fatal(year, month, day, ms, ok, want)
				}
			}
		}
		if year == 2500 {
			year = 9900
		}
	}
}

var isoForm = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)(?:[Tt ](\d\d:\d\d)(:\d\d)?([.,]\d+)? ?([Zz]|[+-]\d\d(?::?\d\d)?)?)?$`)

// byTimePackage is parseISO by the time package.
func byTimePackage(s string) (ms int64, zoned, ok bool) {
	m := isoForm.FindStringSubmatch(s)
	if m == nil || m[3] == "" && m[4] != "" {
		return 0, false, false
	}
	day, clock, second, fraction, zone := m[1], m[2], m[3], m[4], strings.ToUpper(m[5])
	if clock == "" {
		clock = "00:00"
	}
	if second == "" {
		second = ":00"
	}
	if zoned = zone != ""; !zoned {
		zone = "Z"
	}
	if zone != "Z" {
		digits := strings.Replace(zone[1:], ":", "", 1)
		if len(digits) == 2 {
			digits += "00"
		}
		if digits[:2] > "23" || digits[2:] > "59" {
			return 0, false, false
		}
		zone = zone[:1] + digits[:2] + ":" + digits[2:]
	}
	at, err := time.Parse("2006-01-02T15:04:05Z07:00", day+"T"+clock+second+fraction+zone)
	if err != nil || day[:4] == "0000" {
		return 0, false, false
	}
	_, shift := at.Zone()
	wall := at.UnixMilli() + int64(shift)*1000 // a fraction is cut off, also before 1970
	return wall - int64(shift)*1000, zoned, true
}

// FuzzISO: parseISO reads what it is meant to as the time package does, and nothing else.
func FuzzISO(f *testing.F) {
	for _, day := range []string{
		"2026-11-20", "1969-12-31", "0001-01-01", "9999-12-31", "0000-01-01", "2024-02-29", "2023-02-29", "1900-02-29", "2000-02-29",
		"2026-13-01", "2026-00-10", "2026-04-31", "2026-1-011", "2026/11/20", "-026-11-20", "2026-+1-20", "2026-11-2x", "2026-11-\xff0", "", "2026",
	} {
		f.Add(day)
		f.Add(day + "T23:59:59.999+02:00")
	}
	for _, clock := range []string{
		"T10:00", "t10:00:59", " 23:59:59.9", "T00:00:00,123456789", "T10:00:00.", "T10:00.5", "T24:00", "T10:60", "T10:00:60", "T1:000", "T10:00:1", "T10:00:", "T", "x10:00", "T-1:00",
	} {
		for _, zone := range []string{"", "Z", "z", " Z", "+02:00", "-0530", "+02", " +02", "+24:00", "+02:60", "+2", "+", "+0:200", "+02:0", "+020:0", "+:02:00", "Z ", " ", "  "} {
			f.Add("1969-12-31" + clock + zone)
		}
	}
	f.Fuzz(func(t *testing.T, s string) {
		ms, zoned, ok := parseISO(s)
		wantMs, wantZoned, want := byTimePackage(s)
		if ok != want || ok && (ms != wantMs || zoned != wantZoned) {
			t.Fatalf("%q: %d %t %t, by the time package %d %t %t", s, ms, zoned, ok, wantMs, wantZoned, want)
		}
	})
}
