package follow

import (
	"cmp"
	"context"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// place is how far the journal of a pair was read; see the table followed.
type place struct {
	position, mark      string
	markedAt, unsettled int64
}

// reach is how far records were read, by modified_at: since is where the next look goes back from, high
// the highest that was seen, at highAt for the first time; up to final, 0 for none, everything was read
// after it had settled. See the table followed.
type reach struct{ since, high, highAt, final int64 }

// sameMoment is how long later changes may get the same modified_at, in addition to the sheet's settle: for
// one unit of the column, which is a day of 25 hours at most.
const sameMoment = 25 * time.Hour

// start begins a look. The pass of a first look is higher than any that is left from when the pair was
// followed before.
func (l *look) start(ctx context.Context) error {
	n, w := sqlrecord.Number, sqlrecord.Words
	return l.f.db.Write(ctx, func(c sqlrecord.Conn) error {
		if err := l.f.renew(ctx, c); err != nil {
			return err
		}
		row, err := sqlrecord.One(ctx, c, `UPDATE followed SET pass = 1 + CASE WHEN pass > 0 THEN pass ELSE coalesce((SELECT max(r.pass) FROM followed_record r WHERE r.client_id = ?1 AND r.resource = ?2), 0) END
			WHERE client_id = ?1 AND resource = ?2 RETURNING `+l.f.o.DB.Dialect().Present+`, pass, ready_at, whole_at, done_at, since, high, high_at, final, position, mark, marked_at, unsettled`,
			[]sqlrecord.Column{n, n, n, n, n, n, n, n, n, w, w, n, n}, l.values()...)
		if err != nil || row == nil {
			return cmp.Or(err, errLeft)
		}
		of := func(i int) int64 { return row[i].Int() }
		l.present, l.pass, l.first = of(0), of(1), of(2) == 0
		l.reach, l.highest = reach{of(5), of(6), of(7), of(8)}, of(6)
		l.place = place{strings.Clone(row[9].Text()), strings.Clone(row[10].Text()), of(11), of(12)}
		l.turned = time.Now().Add(-time.Duration(l.present-of(4)) * time.Millisecond)
		l.begins(of(3))
		return nil
	})
}

// begins decides what a look reads. With a journal it reads all records only if it is the first look or
// the position is lost, and once more after the writes that were under way at that position have ended.
func (l *look) begins(wholeAt int64) {
	ago := l.present - wholeAt // negative if the clock was set back
	late := l.how.Deletions > 0 && (ago < 0 || ago >= l.how.Deletions.Milliseconds())
	l.whole = l.how.By == sheet.ByScan || l.first || late
	if l.how.IsReported() {
		l.anew = l.first || l.position == "" || l.late()
		l.whole = l.whole || l.anew || l.rereads(l.present, l.how.Settle)
	}
}

// settled reports whether all writes that were under way at the mark have ended, if none takes longer than settle.
func (p place) settled(present int64, settle time.Duration) bool {
	return present >= p.markedAt+settle.Milliseconds()
}

// rereads reports whether all records must be read once more, since writes were under way when the
// journal's first position was taken.
func (p place) rereads(present int64, settle time.Duration) bool {
	return p.unsettled == 1 && p.settled(present, settle)
}

// begun is the place after all records were read, with a position that was taken before.
func begun(position string, now int64, settle time.Duration) place {
	p := place{position: position, mark: position, markedAt: now}
	if settle > 0 {
		p.unsettled = 1
	}
	return p
}

// reread is the place after all records were read once more, in a look that began at began.
func (p place) reread(began int64, settle time.Duration) place {
	if p.settled(began, settle) {
		p.unsettled = 0
	}
	return p
}

// readTo is the place after the journal was read to a position, in a look from began to now, by the
// database's clock. The place moves on to the mark once all writes have settled that were under way there.
func (p place) readTo(position string, began, now int64, settle time.Duration) place {
	switch {
	case settle == 0:
		return place{position: position}
	case p.settled(began, settle):
		return place{position: cmp.Or(p.mark, p.position), mark: position, markedAt: now, unsettled: p.unsettled}
	}
	return p
}

// placed is the place where the next look begins.
func (l *look) placed(now int64) place {
	switch {
	case !l.how.IsReported():
		return place{}
	case l.anew:
		return begun(l.at, now, l.how.Settle)
	case l.whole:
		return l.reread(l.present, l.how.Settle)
	}
	return l.readTo(l.at, l.present, now, l.how.Settle)
}

// late reports whether the system may no longer have all entries since the journal was last read.
func (l *look) late() bool { return l.how.Keeps > 0 && time.Since(l.turned) > l.how.Keeps }

// unitOf is the longest unit that the column of a modified_at may count by: a day, if the value is
// midnight in some zone. A change that becomes visible late may have a modified_at that is one unit lower.
func unitOf(modified int64) time.Duration {
	for _, unit := range []struct{ of, may time.Duration }{{15 * time.Minute, sameMoment}, {time.Minute, time.Minute}, {time.Second, time.Second}} {
		if modified%unit.of.Milliseconds() == 0 {
			return unit.may
		}
	}
	return 0
}

// from is the modified_at from which a look by version reads, if changes become visible after settle at
// the latest.
func (r reach) from(settle time.Duration) int64 {
	from := r.since - (settle + unitOf(r.since)).Milliseconds()
	if r.final > 0 {
		from = max(from, r.final+1)
	}
	return from
}

// ended is the reach after a look from began to now, by the database's clock, that saw a highest
// modified_at. The next look goes back from the highest before this look, because a record may have
// changed during the look after its place was passed.
func (r reach) ended(began, now, highest int64, settle time.Duration) reach {
	next := reach{since: r.high, high: highest, highAt: r.highAt, final: r.final}
	if began-r.highAt > (settle + sameMoment).Milliseconds() {
		next.final = r.high
	}
	if highest != r.high {
		next.highAt = now
	}
	return next
}

// finish notes that a look has ended.
func (l *look) finish(ctx context.Context) error {
	return l.f.db.Write(ctx, func(c sqlrecord.Conn) error {
		if err := l.f.renew(ctx, c); err != nil {
			return err
		}
		row, err := sqlrecord.One(ctx, c, `SELECT `+l.f.o.DB.Dialect().Present, numbers(1))
		if err != nil {
			return err
		}
		now, done, whole := row[0].Int(), row[0].Int(), int64(0)
		at, reach := l.placed(now), l.ended(l.present, now, l.highest, l.how.Settle)
		if l.how.IsReported() {
			done -= time.Since(l.turned).Milliseconds()
		}
		if l.whole {
			whole = now
		}
		n, err := c.Exec(ctx, `UPDATE followed SET next_at = ?4, done_at = ?5, since = ?6, high = ?7, high_at = ?8, final = ?9,
			whole_at = CASE WHEN CAST(?10 AS BIGINT) = 0 THEN whole_at ELSE ?10 END, ready_at = CASE WHEN ready_at = 0 THEN CAST(?15 AS BIGINT) ELSE ready_at END,
			position = ?11, mark = ?12, marked_at = ?13, unsettled = ?14
			WHERE client_id = ?1 AND resource = ?2 AND pass = ?3`,
			l.values(mapping.IntValue(l.pass), mapping.IntValue(now+l.how.Every.Milliseconds()), mapping.IntValue(done), mapping.IntValue(reach.since), mapping.IntValue(reach.high),
				mapping.IntValue(reach.highAt), mapping.IntValue(reach.final), mapping.IntValue(whole), mapping.TextValue(at.position), mapping.TextValue(at.mark), mapping.IntValue(at.markedAt),
				mapping.IntValue(at.unsettled), mapping.IntValue(now))...)
		if err != nil || n == 0 {
			return cmp.Or(err, errLeft)
		}
		_, err = c.Exec(ctx, `DELETE FROM followed_record WHERE client_id = ?1 AND resource = ?2 AND gone = 1 AND pass < ?3`, l.values(mapping.IntValue(l.pass))...)
		return err
	})
}
