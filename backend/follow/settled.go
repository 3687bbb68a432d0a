package follow

import (
	"time"

	"frontdesk/mapping/sheet"
)

// settling is up to which modified_at the changes of a client's resource are final: all up to
// there have shown, and were read. A look need not read them again, be it a mass of records that
// were changed at one moment.
//
// A change shows within Settle, as the sheet promises of all writers and their clocks. How long
// ago a modified_at was first seen is told by the monotonic clock of this process, since the
// system's own may be set. A gateway that takes over begins anew.
type settling struct {
	highest int64     // modified_at that had been seen when the last look began
	since   time.Time // when that was found first
	upTo    int64     // has settled, and was read since; 0 for nothing
}

// begins is told of each look that begins. It returns up to which modified_at all has been read
// for good once that look has ended; 0 for nothing.
func (s *settling) begins(highest int64, now time.Time, settle time.Duration) (final int64) {
	if s.highest != highest {
		s.highest, s.since = highest, now
	}
	if now.Sub(s.since) <= settle+margin(highest) {
		return 0
	}
	return highest
}

// margin is added to Settle: another change may get the same modified_at for as long as the unit
// lasts that the column counts by. That is a day where it is a whole minute, and so may be a date: 25 hours
// at most. Else it is a minute at most, and the rest of the hour is for what takes longer to show
// than the sheet says.
func margin(at int64) time.Duration {
	if at%time.Minute.Milliseconds() != 0 {
		return time.Hour
	}
	return 25 * time.Hour
}

// settle has a look that begins know what has settled. What an HTTP service compares, and how, is its own
// affair: of that, all is read again.
func (r *rounds) settle(f *Follower, l *look) {
	if f.o.Sheet.Source.SQL == nil || l.how.By != sheet.ByVersion {
		return
	}
	if l.settling = r.settling[l.key()]; l.settling == nil {
		l.settling = new(settling)
		r.settling[l.key()] = l.settling
	}
	l.final = l.settling.begins(l.highest, f.o.Now(), l.how.Settle)
}

// from is the modified_at that a look by version begins with. Where the database of the gateway was set back,
// what has been read since is to be read again.
func (l *look) from() int64 {
	from := l.since - l.how.Settle.Milliseconds()
	if s := l.settling; s != nil && s.upTo > 0 && s.upTo <= l.since {
		from = max(from, s.upTo+1)
	}
	return from
}
