package terminal

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// When is a moment on the command line: the moment itself, how long ago it was, or a time of
// day.
type When struct {
	at    time.Time
	ago   time.Duration
	clock time.Time // only its time of day is used
}

// UnmarshalText reads 14d, 36h, 02:13, 2026-11-01, 2026-11-01 02:13 (in the time zone of
// this machine, as the two before) or a time as RFC 3339 has it.
func (w *When) UnmarshalText(text []byte) (err error) {
	if days, ok := WholeDays(string(text)); ok {
		w.ago = time.Duration(days) * 24 * time.Hour
		return nil
	}
	if ago, err := time.ParseDuration(string(text)); err == nil && ago > 0 {
		w.ago = ago
		return nil
	}
	for _, form := range [...]string{"15:04", time.TimeOnly} {
		if w.clock, err = time.Parse(form, string(text)); err == nil {
			return nil
		}
	}
	for _, form := range [...]string{time.DateOnly, "2006-01-02 15:04", time.DateTime, time.RFC3339} {
		if w.at, err = time.ParseInLocation(form, string(text), time.Local); err == nil {
			return nil
		}
	}
	return errors.New("expected a time span such as 14d or 36h, or a date such as 2026-11-01, or a time such as 02:13 or 2026-11-01T02:13:00Z")
}

// From returns the moment relative to now: a time of day is today's, or yesterday's if today's
// is in the future. It returns zero if the moment was not given.
func (w When) From(now time.Time) time.Time {
	switch {
	case w.ago > 0:
		return now.Add(-w.ago)
	case w.clock.IsZero():
		return w.at
	}
	year, month, day := now.Date()
	on := func(day int) time.Time {
		return time.Date(year, month, day, w.clock.Hour(), w.clock.Minute(), w.clock.Second(), 0, now.Location())
	}
	if at := on(day); !at.After(now) {
		return at
	}
	return on(day - 1)
}

// WholeDays reads a number of days such as 14d.
func WholeDays(text string) (days int, ok bool) {
	number, ok := strings.CutSuffix(text, "d")
	n, err := strconv.ParseUint(number, 10, 16)
	return int(n), ok && err == nil
}
