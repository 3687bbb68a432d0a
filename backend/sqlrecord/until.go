package sqlrecord

import (
	"context"
	"time"

	"frontdesk/mapping"
)

// untilTable has one row: a moment. No transaction that begins later is dated before it, whatever
// its clock says.
const untilTable = "record_until"

func (s schema) untilTables() []string {
	return []string{
		"CREATE TABLE IF NOT EXISTS " + untilTable + " (at " + s.d.BigInt + " NOT NULL)" + s.d.TableOptions,
		"INSERT INTO " + untilTable + " (at) SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM " + untilTable + ")",
	}
}

// Write runs f in a transaction, with the store bound to it. All that it creates and
// changes is dated with the transaction's one moment, which Until goes by.
func (s *Store) Write(ctx context.Context, f func(*Store) error) error {
	if s.dates {
		return s.db.Write(ctx, func(c Conn) error { return f(s.On(c)) })
	}
	return s.db.writeDated(ctx, s.now, func(c Conn, moment time.Time) error {
		bound := s.On(c)
		bound.now = func() time.Time { return moment }
		return f(bound)
	})
}

// DatedBy returns the store for records that are older than their transaction: what it creates
// and changes is dated by now, and does not count for Until.
func (s *Store) DatedBy(now func() time.Time) *Store {
	by := *s
	by.now, by.dates = now, true
	return &by
}

// Until returns a time: every change that a later list does not show is dated then or after.
// The time is absent if it is not known now.
func (s *Store) Until(ctx context.Context) (mapping.Value, error) {
	ms, err := s.db.until(ctx, s.now)
	if err != nil || ms == 0 {
		return mapping.Value{}, err
	}
	return mapping.MilliValue(ms), nil
}
