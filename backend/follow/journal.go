package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Journal is a Reader whose system itself says which records have changed. Positions are
// texts of the Reader's own, never empty.
type Journal interface {
	// Position is where the journal of a resource ends: what is noted from now on is behind that.
	Position(ctx context.Context, r *mapping.Resource, client auth.Client) (at string, err error)
	// Entries returns what is noted behind a position, about as many as most; behind "" from the
	// beginning. It fails with ErrPositionGone where the system no longer knows that. Of a resource by version the
	// position is a time (milliseconds since 1970), and the entries are what was marked as
	// deleted since then.
	Entries(ctx context.Context, r *mapping.Resource, client auth.Client, after string, most int) (Entries, error)
	// Named reads the records that entries name, as the client sees them now, and the IDs of
	// others that he may have seen before, as far as they have any.
	Named(ctx context.Context, r *mapping.Resource, client auth.Client, keys [][]string) (records []mapping.Record, others []int32, err error)
}

// Entries are a page of a journal.
type Entries struct {
	Keys   [][]string // of records that have changed or gone, each once
	Others []int32    // the IDs of records that have gone
	// Nameless are the entries that name no record.
	Nameless int
	Next     string
	More     bool
}

// ErrPositionGone says that a journal does not go back so far.
var ErrPositionGone = errors.New("the system no longer knows what has changed since")

// place is how far the journal of a pair was read; see the table followed.
type place struct {
	position, mark      string
	markedAt, unsettled int64
}

// readPlace reads the place of a pair.
func (f *Follower) readPlace(ctx context.Context, c sqlrecord.Conn, p pair) (at place, err error) {
	columns := []sqlrecord.Column{sqlrecord.Words, sqlrecord.Words, sqlrecord.Number, sqlrecord.Number}
	err = c.Query(ctx, `SELECT position, mark, marked_at, unsettled FROM followed WHERE client_id = ?1 AND resource = ?2`,
		columns, p.values(), func(row []mapping.Value) error {
			at = place{strings.Clone(row[0].Text()), strings.Clone(row[1].Text()), row[2].Int(), row[3].Int()}
			return nil
		})
	return at, err
}

// begins decides whether a look reads all records although the system has a journal: the first
// look does, and one whose position is lost; and one more, when the writes that were under way
// at that position have ended.
func (l *look) begins() {
	if !l.how.IsTold() {
		return
	}
	settled := l.unsettled == 1 && l.present >= l.markedAt+l.how.Settle.Milliseconds()
	l.anew = l.first || l.position == "" || l.late()
	l.whole = l.whole || l.anew || settled
	l.told, l.at = !l.whole, l.position
}

// startTold goes on with the journal after the last page of a look by version, if the system
// marks what it deletes; false where it does not, or has been asked.
func (l *look) startTold() bool {
	if l.told || l.whole || l.how.Deleted == "" {
		return false
	}
	l.told, l.at = true, strconv.FormatInt(max(0, l.from()), 10)
	return true
}

// renews takes the end of the journal for the position, before all records are read.
func (f *Follower) renews(ctx context.Context, l *look) (err error) {
	if !l.anew || l.placed {
		return nil
	}
	l.turned = time.Now()
	if l.at, err = f.journal.Position(ctx, l.resource, l.client); err != nil {
		return fmt.Errorf("%w: %w", errDriver, err)
	}
	l.placed = true
	return nil
}

// late tells whether the system may have forgotten what has changed since it was asked last.
func (l *look) late() bool { return l.how.Keeps > 0 && time.Since(l.turned) > l.how.Keeps }

// entries notes a page of the journal, or as much of it as is done in a turn.
func (f *Follower) entries(ctx context.Context, l *look) (done bool, err error) {
	if l.page == nil || l.late() {
		switch err := f.turnPage(ctx, l); {
		case errors.Is(err, ErrPositionGone):
			f.o.Log.Warn("the system does not tell what has changed since the last look: all records are read", l.fields()...)
			l.told, l.whole, l.anew, l.placed, l.at, l.page, l.after = false, true, true, false, "", nil, 0
			return false, nil
		case err != nil:
			return false, fmt.Errorf("%w: %w", errDriver, err)
		}
	}
	for began := time.Now(); len(l.page.Keys)+len(l.page.Others) > 0; {
		if time.Since(began) > turn {
			return false, nil
		}
		if err := f.someEntries(ctx, l); err != nil {
			return false, err
		}
	}
	l.at, done, l.page = l.page.Next, !l.page.More, nil
	return done, nil
}

// turnPage reads the next page.
func (f *Follower) turnPage(ctx context.Context, l *look) error {
	if l.late() {
		return ErrPositionGone
	}
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	asked := time.Now()
	page, err := f.journal.Entries(ctx, l.resource, l.client, l.at, l.how.Page)
	if err == nil && page.More && page.Next == l.at {
		err = fmt.Errorf("the journal of %s goes on where it began", l.resource.Name)
	}
	if err == nil {
		l.page, l.turned, l.read = &page, asked, len(page.Keys)+len(page.Others)
		f.counts[l.resource.Name].records.Add(int64(l.read))
	}
	return err
}

// readsAtOnce is how many records that are read one by one are noted together at most: what is
// noted keeps the lease, and is not read again if the next one fails. turn is how long they are read
// before others get theirs.
const (
	readsAtOnce = 25
	turn        = 5 * time.Second
)

// someEntries notes the next entries of a page. What it reads is newer than all that was noted
// before, be it in this look; what others note meanwhile is newer still, and has entries of its own.
func (f *Follower) someEntries(ctx context.Context, l *look) error {
	ctx, cancel := context.WithTimeout(ctx, f.o.Timeout)
	defer cancel()
	if err := f.nextPass(ctx, l); err != nil {
		return err
	}
	began, most := time.Now(), l.singly.now
	keys, ids := l.page.Keys[:min(len(l.page.Keys), most)], l.page.Others
	if ids = ids[:min(len(ids), most-len(keys))]; len(keys) > 0 {
		records, others, err := f.journal.Named(ctx, l.resource, l.client, keys)
		if err != nil {
			return fmt.Errorf("%w: %w", errDriver, err)
		}
		news, err := f.news(ctx, l.pair, records)
		if err == nil {
			err = f.note(ctx, l.pair, l, news)
		}
		if err != nil {
			return err
		}
		ids = append(others, ids...)
	}
	gone, err := f.goneOf(ctx, l.pair, ids)
	if err == nil {
		err = f.note(ctx, l.pair, l, gone)
	}
	if err != nil {
		return err
	}
	l.singly.took(time.Since(began), f.o.Timeout)
	l.page.Keys, l.page.Others = l.page.Keys[len(keys):], l.page.Others[min(len(l.page.Others), most-len(keys)):]
	return nil
}

// nextPass has what was noted so far be older than what a look reads from now on.
func (f *Follower) nextPass(ctx context.Context, l *look) error {
	err := f.db.Write(ctx, func(c sqlrecord.Conn) error {
		n, err := c.Exec(ctx, `UPDATE followed SET pass = ?4 WHERE client_id = ?1 AND resource = ?2 AND pass = ?3`,
			l.values(mapping.IntValue(l.pass), mapping.IntValue(l.pass+1))...)
		if err == nil && n == 0 {
			err = errLeft
		}
		return err
	})
	if err == nil {
		l.pass++
	}
	return err
}

// goneOf are those of some records that were seen before and are there no more.
func (f *Follower) goneOf(ctx context.Context, p pair, ids []int32) (gone []sighting, err error) {
	before, err := f.lastSeen(ctx, p, ids)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if was, seen := before[id]; !seen || was.gone {
			continue
		}
		switch isGone, err := f.isGone(ctx, p, id); {
		case err != nil:
			return nil, err
		case isGone:
			gone = append(gone, sighting{id: id, modified: mapping.NullValue(), kind: backend.RecordDeleted})
		}
	}
	return gone, nil
}

// isGone tells whether a client no longer sees a record.
func (f *Follower) isGone(ctx context.Context, p pair, id int32) (bool, error) {
	_, err := f.o.Reader.Get(ctx, p.resource, backend.Query{Client: p.client, ID: id, Fields: []int{p.resource.ID}})
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("%w: %w", errDriver, err)
	default:
		return false, nil
	}
}

// ended is the place of a pair after a look of it, at a moment of the database's clock. The
// position goes on to a mark once all has settled that was under way there.
func (l *look) ended(now int64) place {
	at, settle := l.place, l.how.Settle.Milliseconds()
	switch {
	case !l.how.IsTold():
		return place{}
	case l.anew:
		at = place{position: l.at, mark: l.at, markedAt: now}
		if settle > 0 {
			at.unsettled = 1
		}
	case l.whole:
		if l.present >= at.markedAt+settle {
			at.unsettled = 0
		}
	case settle == 0:
		at = place{position: l.at}
	case l.present >= at.markedAt+settle:
		at = place{position: cmp.Or(at.mark, at.position), mark: l.at, markedAt: now, unsettled: at.unsettled}
	}
	return at
}

// possible fails where the sheet says that the system knows what its Reader cannot ask.
func possible(o Options, all []*mapping.Resource) (Journal, error) {
	j, ok := o.Reader.(Journal)
	for _, r := range all {
		if c := o.Sheet.Changes(r); !ok && (c.IsTold() || c.Deleted != "") {
			return nil, fmt.Errorf("changes of %s: by: %s is not possible with this driver, expected by: %s", r.Name, c.By, sheet.ByScan)
		}
	}
	return j, nil
}
