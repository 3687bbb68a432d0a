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

// sameMoment is how long another change may get the same modified_at, besides what the sheet says: for as
// long as the unit lasts that the column counts by, which is a day of 25 hours at most.
const sameMoment = 25 * time.Hour

// start begins a look. The first one is newer than what may be left of an earlier time that the
// pair was followed.
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
		l.present, l.pass, l.first, l.since, l.high, l.final = of(0), of(1), of(2) == 0, of(5), of(6), of(8)
		l.place = place{strings.Clone(row[9].Text()), strings.Clone(row[10].Text()), of(11), of(12)}
		l.turned = time.Now().Add(-time.Duration(l.present-of(4)) * time.Millisecond)
		l.highest, l.settled = l.high, l.present-of(7) > (l.how.Settle+sameMoment).Milliseconds()
		l.begins(of(3))
		return nil
	})
}

// begins decides what a look reads. It reads all records although the system has a journal where it is
// the first, or the position is lost; and once more, when the writes that were under way at that position
// have ended.
func (l *look) begins(wholeAt int64) {
	ago := l.present - wholeAt // negative if the clock was set back
	late := l.how.Deletions > 0 && (ago < 0 || ago >= l.how.Deletions.Milliseconds())
	l.whole = l.how.By == sheet.ByScan || l.first || late
	if l.how.IsTold() {
		l.anew = l.first || l.position == "" || l.late()
		l.whole = l.whole || l.anew || l.unsettled == 1 && l.hasSettled()
	}
}

// hasSettled tells whether all writes that were under way at the mark have ended.
func (l *look) hasSettled() bool { return l.present >= l.markedAt+l.how.Settle.Milliseconds() }

// late tells whether the system may have forgotten what has changed since it was asked last.
func (l *look) late() bool { return l.how.Keeps > 0 && time.Since(l.turned) > l.how.Keeps }

// from is the modified_at that a look by version begins with.
func (l *look) from() int64 {
	from := l.since - l.how.Settle.Milliseconds()
	if l.final > 0 {
		from = max(from, l.final+1)
	}
	return from
}

// finish notes that a look has ended. The next one by version begins where this one found
// the last change when it began: what changed meanwhile, it may have passed before.
func (l *look) finish(ctx context.Context) error {
	return l.f.db.Write(ctx, func(c sqlrecord.Conn) error {
		if err := l.f.renew(ctx, c); err != nil {
			return err
		}
		row, err := sqlrecord.One(ctx, c, `SELECT `+l.f.o.DB.Dialect().Present, numbers(1))
		if err != nil {
			return err
		}
		now, done, whole, final := row[0].Int(), row[0].Int(), int64(0), l.final
		at := l.ended(now)
		if l.how.IsTold() {
			done -= time.Since(l.turned).Milliseconds()
		}
		if l.whole {
			whole = now
		}
		if l.settled {
			final = l.highest
		}
		n, err := c.Exec(ctx, `UPDATE followed SET next_at = ?4, done_at = ?5, since = ?6, high_at = CASE WHEN high = ?7 THEN high_at ELSE CAST(?8 AS BIGINT) END, high = ?7, final = ?9,
			whole_at = CASE WHEN CAST(?10 AS BIGINT) = 0 THEN whole_at ELSE ?10 END, ready_at = CASE WHEN ready_at = 0 THEN ?8 ELSE ready_at END,
			position = ?11, mark = ?12, marked_at = ?13, unsettled = ?14
			WHERE client_id = ?1 AND resource = ?2 AND pass = ?3`,
			l.values(mapping.IntValue(l.pass), mapping.IntValue(now+l.how.Every.Milliseconds()), mapping.IntValue(done), mapping.IntValue(l.highest), mapping.IntValue(l.high),
				mapping.IntValue(now), mapping.IntValue(final), mapping.IntValue(whole), mapping.TextValue(at.position), mapping.TextValue(at.mark), mapping.IntValue(at.markedAt), mapping.IntValue(at.unsettled))...)
		if err != nil || n == 0 {
			return cmp.Or(err, errLeft)
		}
		_, err = c.Exec(ctx, `DELETE FROM followed_record WHERE client_id = ?1 AND resource = ?2 AND gone = 1 AND pass < ?3`, l.values(mapping.IntValue(l.pass))...)
		return err
	})
}

// ended is the place of a pair after a look of it, at a moment of the database's clock. The
// position goes on to a mark once all has settled that was under way there.
func (l *look) ended(now int64) place {
	at, settle := l.place, l.how.Settle
	switch {
	case !l.how.IsTold():
		return place{}
	case l.anew:
		at = place{position: l.at, mark: l.at, markedAt: now}
		if settle > 0 {
			at.unsettled = 1
		}
	case l.whole:
		if l.hasSettled() {
			at.unsettled = 0
		}
	case settle == 0:
		at = place{position: l.at}
	case l.hasSettled():
		at = place{position: cmp.Or(at.mark, at.position), mark: l.at, markedAt: now, unsettled: at.unsettled}
	}
	return at
}
