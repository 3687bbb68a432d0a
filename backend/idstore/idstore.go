// Package idstore is the gateway's own small store for use with a vendor's system. It has
// the int4 IDs that were issued for the system's keys, and the answers under idempotency
// keys if the system has no table for them. The key keep of a mapping sheet says where it
// is.
//
// It has no records. It lives in a SQLite file, or in PostgreSQL if several gateways
// share it.
package idstore

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"go.uber.org/zap"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping/sheet"
)

//go:embed migrations
var migrations embed.FS

// Store is the store. It is safe for concurrent use, also by several processes.
type Store struct {
	db  sqlrecord.DB
	now func() time.Time
	id  string
	log *zap.Logger
	// ignoresCase are the resources whose keys are looked up by kept_id.folded.
	ignoresCase []string

	ids  *lru.Cache[sheet.KeyRef, int32]
	keys *lru.Cache[sheet.IDRef, sheet.KeyRef]
}

// cached is how many IDs are cached in memory, in each direction: some 40 MB when all are
// in use.
const cached = 100_000

// Options say what a Store works with. Now is needed.
type Options struct {
	Now func() time.Time
	// ID is the identity of the store whose IDs clients know: Open refuses any other
	// with ErrOther, and leaves it as it is. "" if clients know none yet.
	ID string
	// IgnoreCase are the resources whose keys are equal if they differ only in case.
	IgnoreCase []string
	// Log gets the IDs that are no longer found; may be nil.
	Log *zap.Logger
}

// Open makes or migrates the tables in a database. The caller still closes the database.
func Open(ctx context.Context, db sqlrecord.DB, o Options) (*Store, error) {
	s := &Store{db: db, now: o.Now, log: o.Log}
	s.ids, _ = lru.New[sheet.KeyRef, int32](cached) // cannot fail: the size is positive
	s.keys, _ = lru.New[sheet.IDRef, sheet.KeyRef](cached)
	if s.log == nil {
		s.log = zap.NewNop()
	}
	if o.ID != "" {
		if err := s.expect(ctx, o.ID); err != nil {
			return nil, err
		}
	}
	if err := sqlrecord.MigrateWith(ctx, db, sqlrecord.Migrations{Table: "frontdesk_keep_version", Files: migrations}); err != nil {
		return nil, fmt.Errorf("kept IDs and answers: %w", err)
	}
	if err := s.identify(ctx); err != nil {
		return nil, err
	}
	for _, resource := range o.IgnoreCase {
		if err := s.IgnoreCase(ctx, resource); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// write runs a transaction, and runs it again if another gateway issued an ID for, or
// folded, the same key at the same time: then the key is there.
func (s *Store) write(ctx context.Context, f func(sqlrecord.Conn) error) error {
	return backend.RunAgain(ctx, func() error { return s.db.Write(ctx, f) }, func(err error) bool { return errors.Is(err, backend.ErrStale) })
}

// failed adds what the store was doing to an error.
func failed(what string, err error) error {
	return fmt.Errorf("%w: %s: %w", backend.ErrOwnStore, what, err)
}

// How result columns are read.
var number, words, octets = sqlrecord.Number, sqlrecord.Words, sqlrecord.Octets
