package idstore

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// ErrOther says that a store is not the expected one.
var ErrOther = errors.New("another id store")

// ID is the UUID that the store got when it was made, or when a version with identities
// first opened it.
func (s *Store) ID() string { return s.id }

// expect fails with ErrOther unless this is the store of that UUID. It changes
// nothing, so that the expected store can still be restored from a backup.
func (s *Store) expect(ctx context.Context, id string) error {
	sql := `SELECT name FROM sqlite_master WHERE name = 'kept_store'`
	if s.db.Dialect().Name == sqlrecord.Postgres().Name {
		sql = `SELECT relname::text FROM pg_class WHERE oid = to_regclass('kept_store')`
	}
	err := s.db.Read(ctx, func(c sqlrecord.Conn) error {
		row, err := sqlrecord.One(ctx, c, sql, []sqlrecord.Column{words})
		if err != nil || row == nil {
			return err
		}
		return s.readIdentity(ctx, c)
	})
	switch {
	case err != nil:
		return fmt.Errorf("identity of the id store: %w", err)
	case s.id == "":
		return fmt.Errorf("%w: a new one", ErrOther)
	case s.id != id:
		return fmt.Errorf("%w: it is %s", ErrOther, s.id)
	}
	return nil
}

func (s *Store) readIdentity(ctx context.Context, c sqlrecord.Conn) error {
	row, err := sqlrecord.One(ctx, c, `SELECT id FROM kept_store`, []sqlrecord.Column{words})
	if err == nil && row != nil {
		s.id = row[0].Text()
	}
	return err
}

// identify gives the store its identity, unless it has one.
func (s *Store) identify(ctx context.Context) error {
	id, err := uuid.NewRandom()
	if err != nil {
		return err
	}
	err = s.db.Write(ctx, func(c sqlrecord.Conn) error {
		if _, err := c.Exec(ctx, `INSERT INTO kept_store (one, id) VALUES (1, ?1) ON CONFLICT DO NOTHING`, mapping.TextValue(id.String())); err != nil {
			return err
		}
		return s.readIdentity(ctx, c)
	})
	if err != nil {
		return fmt.Errorf("identity of the id store: %w", err)
	}
	return nil
}
