package remote

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

//go:embed migrations
var migrations embed.FS

// The tables of the copy other than those of the records: stateTable has a row for each walk,
// touchedTable the records that were read or written one by one.
const (
	stateTable   = "copy_walk"
	touchedTable = "copy_touched"
)

// state is what is known of a walk.
type state struct {
	now      time.Time // by the clock of the database
	walked   time.Time // when the last whole walk began; zero for none
	polled   time.Time // when changes were last polled successfully
	noted    time.Time // polled, as the table has it
	since    string    // of the next poll; "" before the first
	members  membership
	failedAt time.Time // zero unless the last walk failed
	failed   string
	changed  bool // the walk failed because the service lacks what the sheet needs
	records  int64
	walking  bool
	// deletions says that polls report what was deleted
	deletions bool
}

// membership are the fields that all records of the last walk had, by name.
type membership map[string]bool

// known is when the copy last equalled the service; zero if it is not complete. Unless polls report
// deletions, only a walk finds these: while walks fail, the last successful one counts.
func (s *state) known() time.Time {
	known := s.walked
	if !known.IsZero() && s.polled.After(known) && !s.isBlind() {
		known = s.polled
	}
	if known.After(s.now) { // the clock was set back
		return s.now
	}
	return known
}

// isBlind reports whether deletions are not noticed: polls do not report them, and walks fail.
func (s *state) isBlind() bool { return !s.deletions && !s.failedAt.IsZero() }

var stateColumns = []sqlrecord.Column{
	sqlrecord.Number, sqlrecord.Number, sqlrecord.Number, sqlrecord.Words, sqlrecord.Words, sqlrecord.Number, sqlrecord.Words, sqlrecord.Number, sqlrecord.Number, sqlrecord.Number,
}

// state reads what is known of a walk.
func (c *copied) state(ctx context.Context, p *walked) (s state, err error) {
	text := "SELECT " + c.db.Dialect().Present + ", walked_at, asked_at, since, members, failed_at, failed, changed, records, until FROM " + stateTable + " WHERE resource = ?1 AND client_id = ?2"
	err = c.db.Read(ctx, func(conn sqlrecord.Conn) error {
		row, err := sqlrecord.One(ctx, conn, text, stateColumns, p.key()...)
		if err != nil || row == nil {
			return err
		}
		s = state{
			now: moment(row[0]), walked: moment(row[1]), polled: moment(row[2]), since: row[3].Text(), failedAt: moment(row[5]), failed: row[6].Text(), changed: row[7].Int() != 0,
			records: row[8].Int(),
		}
		s.noted = s.polled
		if own := moment(mapping.IntValue(p.polled.Load())); own.After(s.polled) && !own.After(s.now) {
			s.polled = own
		}
		if walk := p.r.Service.Walk; walk.Since != nil {
			s.deletions = walk.Since.Deleted != nil
		}
		s.walking = row[9].Int() > row[0].Int()
		if text := row[4].Text(); text != "" {
			err = json.Unmarshal([]byte(text), &s.members)
		}
		p.always.Store(&s.members)
		return err
	})
	return s, ownFailure("state of the copy", err)
}

// moment is a time of the tables; 0 is the zero Time.
func moment(v mapping.Value) time.Time {
	if v.Int() == 0 {
		return time.Time{}
	}
	return time.UnixMilli(v.Int()).UTC()
}

func (p *walked) key(more ...mapping.Value) []mapping.Value {
	return append([]mapping.Value{mapping.TextValue(p.r.Name), mapping.IntValue(p.client.ID)}, more...)
}

// set changes columns of a walk's row, if it also fulfils a condition.
func (c *copied) set(ctx context.Context, p *walked, sets, where string, values ...mapping.Value) (n int64, err error) {
	n, err = sqlrecord.Change(ctx, c.db, "UPDATE "+stateTable+" SET "+strings.ReplaceAll(sets, "now()", c.db.Dialect().Present)+" WHERE resource = ?1 AND client_id = ?2"+where, p.key(values...)...)
	return n, ownFailure("state of the copy", err)
}

// begin makes the row of a walk, unless it is there.
func (c *copied) begin(ctx context.Context, p *walked) error {
	_, err := sqlrecord.Change(ctx, c.db, "INSERT INTO "+stateTable+" (resource, client_id) VALUES (?1, ?2) ON CONFLICT (resource, client_id) DO NOTHING", p.key()...)
	return ownFailure("state of the copy", err)
}

// A walk is one gateway's, by its lease, a minute at a time:
//
//	lease    at its first page, if the row is as when the walk began; another's lease must have expired
//	renew    at each further page, and with each change of the copy: a walk that has lost its lease changes
//	         nothing and ends, because it does not know what the other walk has stored
//	ended    while it has the lease
//	givenUp  gives back its own lease, and nobody else's
//
// A lease that ends in more than a minute was taken before the clock was set back, and counts as expired.
func (c *copied) lease(ctx context.Context, conn sqlrecord.Conn, p *walked, since time.Time) error {
	now := c.db.Dialect().Present
	return c.renewed(ctx, conn, p, since, "(holder = ?3 OR until < "+now+" OR until > "+now+" + 60000)")
}

func (c *copied) renew(ctx context.Context, conn sqlrecord.Conn, p *walked, since time.Time) error {
	return c.renewed(ctx, conn, p, since, "holder = ?3")
}

func (c *copied) renewed(ctx context.Context, conn sqlrecord.Conn, p *walked, since time.Time, where string) error {
	n, err := conn.Exec(ctx, "UPDATE "+stateTable+" SET holder = ?3, until = "+c.db.Dialect().Present+" + 60000 WHERE resource = ?1 AND client_id = ?2 AND walked_at = ?4 AND "+where,
		p.key(mapping.TextValue(c.holder), milli(since))...)
	if err == nil && n == 0 {
		err = errOthers
	}
	return err
}

// ended notes the success of a walk that began at began; the one before began at since.
func (c *copied) ended(ctx context.Context, p *walked, since, began time.Time, members string, next string, records int) error {
	n, err := c.set(ctx, p, "walked_at = ?3, members = ?4, records = ?6, failed = '', failed_at = 0, changed = 0, until = 0, since = CASE WHEN since = '' THEN ?5 ELSE since END",
		" AND walked_at = ?7 AND holder = ?8", milli(began), mapping.TextValue(members), mapping.TextValue(next), mapping.IntValue(int64(records)), milli(since), mapping.TextValue(c.holder))
	if err == nil && n == 0 {
		err = errOthers
	}
	return err
}

// givenUp notes why a walk has failed, and whether the service has changed.
func (c *copied) givenUp(ctx context.Context, p *walked, why string, changed bool) error {
	is := int64(0)
	if changed {
		is = 1
	}
	_, err := c.set(ctx, p, "failed = ?3, failed_at = CASE WHEN failed_at = 0 THEN now() ELSE failed_at END, changed = ?4, until = CASE WHEN holder = ?5 THEN 0 ELSE until END", "",
		mapping.TextValue(why), mapping.IntValue(is), mapping.TextValue(c.holder))
	return err
}

// milli is a moment as the tables have it.
func milli(t time.Time) mapping.Value {
	if t.IsZero() {
		return mapping.IntValue(0)
	}
	return mapping.IntValue(t.UnixMilli())
}

// ownFailure marks an error of the gateway's own database.
func ownFailure(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", backend.ErrOwnStore, what, err)
}
