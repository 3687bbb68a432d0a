package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"go.uber.org/zap"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// look is one look at all records of a pair, or at those that were modified since.
type look struct {
	pair
	place
	how       sheet.Changes
	told      bool      // pages come from the journal of the system
	at        string    // how far that was read
	page      *Entries  // what is left of the page behind it; nil before it is read
	turned    time.Time // when the system was known to have all behind that last
	anew      bool      // a position in it is taken before all records are read
	placed    bool      // that is done
	read      int       // records of the last page
	pass      int64     // the number of the look, or of a part of it
	first     bool      // nobody has a cursor yet
	whole     bool      // all records are read
	since     int64
	highest   int64 // modified_at that was seen before it began, and the highest by now
	high      int64
	present   int64   // when it began
	after     int32   // the last record that was read
	seen      []int32 // where the whole is read: 4 bytes for each record
	sweeps    bool    // all are read, and those that were not seen are looked for
	listed    portion // records of a list, and those that are read one by one
	singly    portion
	settling  *settling // nil unless it is by version, of a database
	final     int64     // what it has read for good when it ends; see settling
	due       time.Time
	failures  int
	lastError time.Time
}

// pageBytes bounds the texts of a page.
const pageBytes = 8 << 20

var errPageFull = errors.New("the page is full")

// step reads and notes one page.
func (f *Follower) step(ctx context.Context, l *look) (done bool, err error) {
	l.read = 0
	switch {
	case l.sweeps:
		return f.sweep(ctx, l)
	case l.told:
		return f.entries(ctx, l)
	default:
		return f.list(ctx, l)
	}
}

// list reads and notes a page of a list.
func (f *Follower) list(ctx context.Context, l *look) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	if err := f.renews(ctx, l); err != nil {
		return false, err
	}
	q := backend.Query{Client: l.client, Keyset: true, After: l.after, Limit: l.listed.now, Room: func(bytes, records int) error {
		if bytes > pageBytes && records > 1 {
			return errPageFull
		}
		return nil
	}}
	if !l.whole && l.since > 0 {
		q.ModifiedSince = mapping.TimeValue(time.UnixMilli(l.from()))
	}
	began := time.Now()
	page, err := f.o.Reader.List(ctx, l.resource, q)
	if err != nil {
		return false, fmt.Errorf("%w: %w", errDriver, err)
	}
	l.listed.took(time.Since(began), f.o.Timeout)
	l.read = len(page.Records)
	f.counts[l.resource.Name].records.Add(int64(l.read))
	news, err := f.news(ctx, l.pair, page.Records)
	if err == nil {
		err = f.note(ctx, l.pair, l, news)
	}
	if err != nil {
		return false, err
	}
	for _, rec := range page.Records {
		if l.whole {
			l.seen = append(l.seen, rec.ID())
		}
		if at := rec.Values[l.resource.ModifiedAt]; at.IsSet() && at.Int() <= l.present {
			l.high = max(l.high, at.Int())
		}
	}
	if !page.More {
		slices.Sort(l.seen)
		l.sweeps, l.after = l.whole, 0
		return !l.whole && !l.startTold(), nil // which asks for what was deleted
	}
	if len(page.Records) == 0 {
		return false, fmt.Errorf("%w: a page of %s has no records, and there are more", errDriver, l.resource.Name)
	}
	l.after = page.Records[len(page.Records)-1].ID()
	return false, nil
}

// sweepAtOnce is how many records are compared with those that were seen.
const sweepAtOnce = 1000

// sweep looks for the next records that a look has not seen. One that is there all the same
// was passed over by its paging, and stays.
func (f *Follower) sweep(ctx context.Context, l *look) (done bool, err error) {
	var missing []int32
	n := 0
	err = f.db.Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, `SELECT id FROM followed_record WHERE client_id = ?1 AND resource = ?2 AND id > ?3 AND gone = 0 AND pass < ?4 ORDER BY id LIMIT ?5`, numbers(1),
			l.values(mapping.IntValue(int64(l.after)), mapping.IntValue(l.pass), mapping.IntValue(sweepAtOnce)), func(row []mapping.Value) error {
				n, l.after = n+1, int32(row[0].Int())
				if _, there := slices.BinarySearch(l.seen, l.after); !there {
					missing = append(missing, l.after)
				}
				return nil
			})
	})
	if err != nil {
		return false, err
	}
	if most := l.how.Page; len(missing) > most { // the others come after a pause
		missing, l.after, n = missing[:most], missing[most-1], sweepAtOnce
	}
	for began := time.Now(); len(missing) > 0; {
		some := missing[:min(len(missing), l.singly.now)]
		if err = f.someMissing(ctx, l, some); err != nil {
			l.after = missing[0] - 1 // those that were noted are not found again
			return false, err
		}
		if missing = missing[len(some):]; len(missing) > 0 && time.Since(began) > turn {
			l.after = missing[0] - 1
			return false, nil
		}
	}
	return n < sweepAtOnce, nil
}

// someMissing notes those that have gone of the records that a look has not seen.
func (f *Follower) someMissing(ctx context.Context, l *look, ids []int32) error {
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	began := time.Now()
	gone, err := f.goneOf(ctx, l.pair, ids)
	if err != nil {
		return err
	}
	l.singly.took(time.Since(began), f.o.Timeout)
	l.read += len(ids)
	return f.note(ctx, l.pair, l, gone)
}

// portion is how many records are read at once, and how many at most: as many as there is ample
// time for.
type portion struct{ now, most int }

// took says how long reading them took, of the time there is.
func (p *portion) took(time, of time.Duration) {
	if time < of/4 {
		p.now = min(2*p.now, p.most)
	}
}

// start begins a look. The first one is newer than what may be left of an earlier time that the
// pair was followed.
func (f *Follower) start(ctx context.Context, p pair) (l *look, err error) {
	l = &look{pair: p, how: f.o.Sheet.Changes(p.resource), singly: portion{1, readsAtOnce}}
	l.listed = portion{l.how.Page, l.how.Page}
	found := false
	err = f.db.Write(ctx, func(c sqlrecord.Conn) error {
		found = false
		if err := f.renew(ctx, c); err != nil {
			return err
		}
		var err error
		if l.place, err = f.readPlace(ctx, c, p); err != nil {
			return err
		}
		return c.Query(ctx, `UPDATE followed SET pass = 1 + CASE WHEN pass > 0 THEN pass ELSE coalesce((SELECT max(r.pass) FROM followed_record r WHERE r.client_id = ?1 AND r.resource = ?2), 0) END
			WHERE client_id = ?1 AND resource = ?2 RETURNING pass, ready_at, whole_at, since, high, `+f.o.DB.Dialect().Present+`, done_at`,
			numbers(7), p.values(), func(row []mapping.Value) error {
				found = true
				l.pass, l.first, l.since, l.high, l.present = row[0].Int(), row[1].Int() == 0, row[3].Int(), row[4].Int(), row[5].Int()
				ago := l.present - row[2].Int() // negative if the clock was set back
				late := l.how.Deletions > 0 && (ago < 0 || ago >= l.how.Deletions.Milliseconds())
				l.whole, l.highest = l.how.By == sheet.ByScan || l.first || late, l.high
				l.turned = time.Now().Add(-time.Duration(l.present-row[6].Int()) * time.Millisecond)
				l.begins()
				return nil
			})
	})
	if err == nil && !found {
		err = errLeft
	}
	return l, err
}

// finish notes that a look has ended. The next one by version begins where this one found
// the last change when it began: what changed meanwhile, it may have passed before.
func (f *Follower) finish(ctx context.Context, l *look) error {
	whole := int64(0)
	if l.whole {
		whole = 1
	}
	present, ago := f.o.DB.Dialect().Present, int64(0)
	if l.how.IsTold() {
		ago = time.Since(l.turned).Milliseconds()
	}
	return f.db.Write(ctx, func(c sqlrecord.Conn) error {
		if err := f.renew(ctx, c); err != nil {
			return err
		}
		now, err := sqlrecord.One(ctx, c, `SELECT `+present, numbers(1))
		if err != nil {
			return err
		}
		at := l.ended(now[0].Int())
		n, err := c.Exec(ctx, `UPDATE followed SET next_at = `+present+` + ?4, done_at = `+present+` - ?12, since = ?5, high = ?6, position = ?8, mark = ?9, marked_at = ?10, unsettled = ?11,
			whole_at = CASE WHEN CAST(?7 AS BIGINT) = 1 THEN `+present+` ELSE whole_at END, ready_at = CASE WHEN ready_at = 0 THEN `+present+` ELSE ready_at END
			WHERE client_id = ?1 AND resource = ?2 AND pass = ?3`,
			l.values(mapping.IntValue(l.pass), mapping.IntValue(l.how.Every.Milliseconds()), mapping.IntValue(l.highest), mapping.IntValue(l.high), mapping.IntValue(whole),
				mapping.TextValue(at.position), mapping.TextValue(at.mark), mapping.IntValue(at.markedAt), mapping.IntValue(at.unsettled), mapping.IntValue(ago))...)
		switch {
		case err != nil:
			return err
		case n == 0:
			return errLeft
		}
		_, err = c.Exec(ctx, `DELETE FROM followed_record WHERE client_id = ?1 AND resource = ?2 AND gone = 1 AND pass < ?3`, l.values(mapping.IntValue(l.pass))...)
		return err
	})
}

// backoff is how long a look rests after it has failed so often.
func backoff(failures int) time.Duration {
	return min(time.Minute, time.Second<<min(failures, 6))
}

// failed notes that a step of a look has failed, and rests. The client may have another name by
// now, by which it succeeds.
func (f *Follower) failed(ctx context.Context, l *look, err error) {
	if now, err := f.pairs(ctx, "client_id = ?1 AND resource = ?2", l.values()...); err == nil && len(now) > 0 {
		l.client = now[0].client
	}
	l.failures++
	l.listed.now, l.singly.now = 1, 1 // what can be read is noted, before what cannot
	l.due = time.Now().Add(backoff(l.failures))
	f.counts[l.resource.Name].failures.Add(1)
	if l.failures == 1 || time.Since(l.lastError) > 10*time.Minute {
		l.lastError = time.Now()
		f.o.Log.Error("changes cannot be looked for; it is tried again", append(l.fields(), zap.Int("failures", l.failures), zap.Error(err))...)
	}
}

func (l *look) fields() []zap.Field {
	return []zap.Field{zap.String("resource", l.resource.Name), zap.Int64("client", l.client.ID)}
}
