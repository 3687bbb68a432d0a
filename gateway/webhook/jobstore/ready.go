package jobstore

import (
	"context"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// Ready reports whether jobs can be read, and reads one at most.
func (s *Store) Ready(ctx context.Context) error {
	if err := sqlrecord.There(s.db); err != nil {
		return err
	}
	return s.db.Read(ctx, func(c sqlrecord.Conn) error {
		return c.Query(ctx, `SELECT 1 FROM callback_job LIMIT 1`, []sqlrecord.Column{number}, nil, func([]mapping.Value) error { return nil })
	})
}
