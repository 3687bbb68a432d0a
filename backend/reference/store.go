package reference

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

var (
	_ backend.Driver      = (*Store)(nil)
	_ backend.AddressBook = (*Store)(nil)
	_ backend.ChangeFeed  = (*Store)(nil)
	_ backend.Pinger      = (*Store)(nil)
	_ backend.Sharer      = (*Store)(nil)
	_ auth.Accounts       = (*Store)(nil)
)

// version is the version of the fields that the administration derives, and of its own tables.
const version = "1"

// keepChanges is the default of Options.KeepChanges.
const keepChanges = 90 * 24 * time.Hour

// Options say where the administration is and what it works with.
type Options struct {
	// DSN is sqlite:PATH or a postgres:// URL.
	DSN   string
	Model *mapping.Model
	// Hasher makes and judges password hashes.
	Hasher *auth.Hasher
	Now    func() time.Time
	// Readers is how many statements may read at once; 0 leaves it to the
	// engine.
	Readers int
	// LockWait bounds the wait for a lock that another transaction of PostgreSQL holds; 0
	// leaves it to the server. It should be well below the backend's timeout.
	LockWait time.Duration
	// Log gets the errors of background work; nil for no log.
	Log *zap.Logger
	// KeepChanges is how long cursors of changes are good; 0 for 90 days.
	KeepChanges time.Duration
	// FreeReserve frees a part of the disk space that is reserved for changes of users on a full
	// disk, and reports whether there was any; nil if none is reserved.
	FreeReserve func() bool
	// Purge ticks when expired rows are to be removed; nil for every hour.
	Purge <-chan time.Time
}

// Store is the built-in administration. It is safe for concurrent use.
type Store struct {
	addressBook
	db          sqlrecord.DB
	reserved    sqlrecord.DB // the same, for all but records: users, resets, health
	model       *mapping.Model
	derived     *derived
	records     *sqlrecord.Store
	changes     *sqlrecord.Changes
	hasher      *auth.Hasher
	now         func() time.Time
	endPurge    func()
	freeReserve func() bool
}

// Open opens an administration, makes or migrates its tables, and starts to
// remove what expires in it. The caller closes it.
func Open(ctx context.Context, o Options) (*Store, error) {
	err := JudgeModel(o.Model)
	if err != nil {
		return nil, err
	}
	s := &Store{addressBook: loadAddressBook(), model: o.Model, derived: newDerived(o.Model), hasher: o.Hasher, now: o.Now, freeReserve: o.FreeReserve}
	if s.db, err = openDB(ctx, o); err != nil {
		return nil, err
	}
	s.reserved = sqlrecord.Reserved(s.db)
	if err := migrate(ctx, s.db, o.Model, o.Now); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	s.records = sqlrecord.New(s.db, o.Model, o.Now)
	if s.changes, err = sqlrecord.OpenChanges(ctx, s.records, cmp.Or(o.KeepChanges, keepChanges)); err != nil {
		return nil, errors.Join(err, s.db.Close())
	}
	if o.Log == nil {
		o.Log = zap.NewNop()
	}
	s.endPurge = startPurger(s, o.Purge, o.Log)
	return s, nil
}

func openDB(ctx context.Context, o Options) (sqlrecord.DB, error) {
	options := sqlrecord.Options{Readers: o.Readers, Log: o.Log}
	if path, ok := strings.CutPrefix(o.DSN, "sqlite:"); ok {
		if path == "" {
			return nil, errors.New("the DSN sqlite: names no file")
		}
		return sqlrecord.OpenSQLite(path, options)
	}
	if strings.HasPrefix(o.DSN, "postgres://") || strings.HasPrefix(o.DSN, "postgresql://") {
		options.LockWait = o.LockWait
		return sqlrecord.OpenPostgres(ctx, o.DSN, options)
	}
	scheme, _, _ := strings.Cut(o.DSN, ":") // the rest may hold a password
	return nil, fmt.Errorf("the DSN must begin with sqlite: or postgres://, not %q", scheme)
}

// Get implements backend.Reader.
func (s *Store) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	return s.records.Get(ctx, r, q)
}

// List implements backend.Reader. Until is read from the primary, before the list.
func (s *Store) List(ctx context.Context, r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	var until mapping.Value
	if q.ModifiedSince.IsSet() {
		if until, err = s.records.Until(ctx); err != nil {
			return page, err
		}
	}
	page, err = s.list(ctx, r, q)
	page.Until = until
	return page, err
}

func (s *Store) list(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	if q.None {
		return backend.Page{Records: []mapping.Record{}}, nil
	}
	return s.records.List(ctx, r, q)
}

// Write implements backend.Driver.
func (s *Store) Write(ctx context.Context, f func(backend.Tx) error) error {
	return s.inTx(ctx, func(t *txn) error { return f(t) })
}

func (s *Store) inTx(ctx context.Context, f func(*txn) error) error {
	return s.records.Write(ctx, func(records *sqlrecord.Store) error {
		return f(&txn{
			internalTables: s.internalTables(records.Conn()), Store: records, derived: s.derived,
			now: s.now, vatKinds: map[int32]string{},
		})
	})
}

// inOwnTx is inTx for writes that touch no records.
func (s *Store) inOwnTx(ctx context.Context, f func(*txn) error) error {
	return s.reserved.Write(ctx, func(c sqlrecord.Conn) error {
		return f(&txn{internalTables: s.internalTables(c), now: s.now})
	})
}

// datedBy returns the administration for records that are older than the
// transactions they come in.
func (s *Store) datedBy(now func() time.Time) *Store {
	by := *s
	by.now, by.records = now, s.records.DatedBy(now)
	return &by
}

// UntilLag returns, for PostgreSQL, how far Until of pages stays behind because of writes under way.
func (s *Store) UntilLag(ctx context.Context) (time.Duration, error) { return s.records.UntilLag(ctx) }

// Database is the database of the records, in which callback jobs are stored too. It is closed
// with the store.
func (s *Store) Database() sqlrecord.DB { return sqlrecord.Jobs(s.db) }

// Pool implements backend.Pooler.
func (s *Store) Pool() backend.Pool { return sqlrecord.PoolOf(s.db) }

// Ping implements backend.Pinger.
func (s *Store) Ping(ctx context.Context) error { return s.reserved.Ping(ctx) }

// Capabilities implements backend.Driver.
func (s *Store) Capabilities() backend.Capabilities {
	return backend.Capabilities{Name: "reference", Store: s.db.Dialect().Name, Version: version, Atomic: true, Until: true}
}

// Shares implements backend.Sharer.
func (s *Store) Shares(*mapping.Resource, mapping.Scope) bool { return true }

// Close implements backend.Driver.
func (s *Store) Close() error {
	s.endPurge()
	return s.db.Close()
}
