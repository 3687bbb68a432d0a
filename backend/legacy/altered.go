package legacy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// PostgreSQL shows a transaction an empty table if the table was rewritten, or emptied and filled,
// while the transaction ran. So a transaction that found nothing checks at its end whether there is
// such a table, and if so it is run again.

// errAltered says that a table was altered meanwhile.
var errAltered = fmt.Errorf("%w: a table was altered since the transaction began", backend.ErrCollision)

// missed notes that a row was not found.
func (s session) missed() {
	if s.doubt != nil {
		*s.doubt = true
	}
}

// certain returns the error of a transaction, or errAltered if its result is in doubt.
func (s session) certain(ctx context.Context, err error) error {
	_, violated := mapping.AsViolations(err)
	if s.doubt == nil || !*s.doubt || err != nil && !violated && !errors.Is(err, backend.ErrNotFound) {
		return err
	}
	if is, failed := sqlrecord.Altered(ctx, s.conn); failed == nil && is {
		return errAltered
	}
	return err
}

// snapshot runs f in one snapshot.
func (s *Store) snapshot(ctx context.Context, f func(session) error) error {
	return backend.RunAgain(ctx, func() error {
		return s.db.Snapshot(ctx, func(c sqlrecord.Conn) error {
			on := session{Store: s, conn: c, doubt: new(bool)}
			return on.certain(ctx, f(on))
		})
	}, func(err error) bool { return errors.Is(err, backend.ErrCollision) })
}

// lookups are the fields that are read from other tables, by SQL of the sheet.
func lookups(of *sheet.Resource) (all []int) {
	for i := range of.SQL.Fields {
		if strings.Contains(strings.ToLower(of.SQL.Fields[i].Read), "select") {
			all = append(all, i)
		}
	}
	return all
}

// lacks reports whether another table had no row for a record.
func (t *Mapped) lacks(rec mapping.Record) bool {
	return slices.ContainsFunc(t.lookups, func(i int) bool { return !rec.Values[i].IsAbsent() && !rec.Values[i].IsSet() })
}
