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

// The tables of the copy beside those of the records: stateTable has a row for each walk, touchedTable
// the records that were read or written one by one.
const (
	stateTable   = "copy_walk"
	touchedTable = "copy_touched"
)

// state is what is known of a walk.
type state struct {
	now      time.Time // by the clock of the database
	walked   time.Time // when the last whole walk began; zero for none
	asked    time.Time // when it was last asked, with an answer, what has changed
	noted    time.Time // what the table has of that
	since    string    // what is asked for next; "" for nothing yet
	members  membership
	failedAt time.Time // zero unless the last walk failed
	failed   string
	changed  bool // since the service has not what the sheet needs
	records  int64
	walking  bool
	// deletions tells that changes say what is deleted
	deletions bool
}

// membership are the fields that all records of the last walk had, by name.
type membership map[string]bool

// known is when the copy was last as the service had it; zero where it is not whole. What is deleted only
// a walk tells, unless changes do: while walks fail the last one that has ended well counts.
func (s *state) known() time.Time {
	known := s.walked
	if !known.IsZero() && s.asked.After(known) && !s.isBlind() {
		known = s.asked
	}
	if known.After(s.now) { // the clock was set back since
		return s.now
	}
	return known
}

// isBlind tells whether nothing says what is deleted.
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
			now: moment(row[0]), walked: moment(row[1]), asked: moment(row[2]), since: row[3].Text(), failedAt: moment(row[5]), failed: row[6].Text(), changed: row[7].Int() != 0,
			records: row[8].Int(),
		}
		s.noted = s.asked
		if own := moment(mapping.IntValue(p.asked.Load())); own.After(s.asked) && !own.After(s.now) {
			s.asked = own
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

// set changes columns of a walk's row.
func (c *copied) set(ctx context.Context, p *walked, sets string, values ...mapping.Value) (n int64, err error) {
	n, err = sqlrecord.Change(ctx, c.db, "UPDATE "+stateTable+" SET "+strings.ReplaceAll(sets, "now()", c.db.Dialect().Present)+" WHERE resource = ?1 AND client_id = ?2", p.key(values...)...)
	return n, ownFailure("state of the copy", err)
}

// begin makes the row of a walk, unless it is there.
func (c *copied) begin(ctx context.Context, p *walked) error {
	_, err := sqlrecord.Change(ctx, c.db, "INSERT INTO "+stateTable+" (resource, client_id) VALUES (?1, ?2) ON CONFLICT (resource, client_id) DO NOTHING", p.key()...)
	return ownFailure("state of the copy", err)
}

// lease has this gateway make a walk for a minute, unless another one does, or has made it. A lease
// that ends later is of a clock that was set back since.
func (c *copied) lease(ctx context.Context, p *walked, walked time.Time) (bool, error) {
	now, at := c.db.Dialect().Present, int64(0)
	if !walked.IsZero() {
		at = walked.UnixMilli()
	}
	n, err := sqlrecord.Change(ctx, c.db, "UPDATE "+stateTable+" SET holder = ?3, until = "+now+" + 60000 WHERE resource = ?1 AND client_id = ?2 AND walked_at = ?4 AND (holder = ?3 OR until < "+now+" OR until > "+now+" + 60000)",
		p.key(mapping.TextValue(c.holder), mapping.IntValue(at))...)
	return n == 1, ownFailure("turn to walk", err)
}

// ownFailure marks an error of the gateway's own database.
func ownFailure(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %s: %w", backend.ErrOwnStore, what, err)
}
