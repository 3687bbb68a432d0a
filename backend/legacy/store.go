package legacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

var (
	_ backend.Driver     = (*Store)(nil)
	_ backend.Pinger     = (*Store)(nil)
	_ backend.Supporter  = (*Store)(nil)
	_ backend.Pooler     = (*Store)(nil)
	_ backend.Sharer     = (*Store)(nil)
	_ backend.Exporter   = (*Store)(nil)
	_ backend.Collator   = (*Store)(nil)
	_ auth.Accounts      = (*Store)(nil)
	_ backend.ChangeFeed = (*Store)(nil)
)

// IDStore is the gateway's own small store, for what the existing database cannot keep.
type IDStore interface {
	sheet.IDStore
	backend.AnswerStore
	// IgnoreCase makes keys of a resource equal that differ only in case. It is called before
	// any ID of the resource is looked up.
	IgnoreCase(ctx context.Context, resource string) error
}

// Options say what a Store works with. Sheet and Now are required; IDStore if the
// sheet has no other place for IDs and idempotency keys; Hasher if users log in.
type Options struct {
	Sheet   *sheet.Sheet
	IDStore IDStore
	Now     func() time.Time
	Hasher  *auth.Hasher
	// LockWait bounds the wait for a row that another transaction holds; 0 for
	// DefaultLockWait. It should be well below the backend's timeout.
	LockWait time.Duration
	// Log gets a line for transactions that are run again; may be nil.
	Log *zap.Logger
	// User returns the user of a request, for the sheet's :user and :username; nil for nobody.
	User func(ctx context.Context) auth.User
}

// DefaultLockWait is the default of Options.LockWait.
const DefaultLockWait = 3 * time.Second

// Store is an existing SQL database. It is safe for concurrent use.
type Store struct {
	auth.Elsewhere // users change their passwords in the vendor's system
	follow.Source

	sheet   *sheet.Sheet
	source  *sheet.SQL
	d       *sqlrecord.Dialect
	db      sqlrecord.DB
	idStore IDStore
	answers string // quoted table of answers under idempotency keys; "" for the id store
	now     func() time.Time
	log     *zap.Logger
	clients sync.Map // identities of clients by their kept numbers

	passwords *auth.ForeignHashes

	looking sync.Mutex // looks run one at a time, so an older one never replaces a newer view
	leftMu  sync.Mutex
	left    map[backend.Place]int64
	user    func(ctx context.Context) auth.User

	view     atomic.Pointer[view]
	decimals map[string]map[string]int // of resources and columns, when they were first inspected
	changed  chan struct{}             // receives when the database may have changed
	stop     context.CancelFunc
	stopped  chan struct{}
}

// Judge reports whether a sheet is of a format that the driver reads, and its DSN one of its engine,
// without connecting.
func Judge(sh *sheet.Sheet) error {
	if sh.Source.SQL == nil {
		return errors.New("the sheet is of no SQL database")
	}
	return sqlrecord.JudgeForeign(sh.Source.SQL.Engine, string(sh.Source.SQL.DSN))
}

// Open connects to the database of a sheet. It fails if the database does not answer. The caller
// closes the Store, but the id store stays with its owner.
func Open(ctx context.Context, o Options) (*Store, error) {
	source := o.Sheet.Source.SQL
	if err := Judge(o.Sheet); err != nil {
		return nil, err
	}
	s := &Store{
		Elsewhere: auth.Elsewhere{Where: o.Sheet.Accounts.ForgotPassword}, sheet: o.Sheet, source: source, idStore: o.IDStore,
		now: o.Now, log: o.Log, changed: make(chan struct{}, 1), left: map[backend.Place]int64{}, decimals: map[string]map[string]int{},
	}
	if s.log == nil {
		s.log = zap.NewNop()
	}
	if s.user = o.User; s.user == nil {
		s.user = func(context.Context) auth.User { return auth.User{} }
	}
	var err error
	if s.passwords, err = auth.NewForeignHashes(o.Hasher, o.Sheet.Accounts.Hash); err != nil {
		return nil, fmt.Errorf("accounts.hash: %w", err)
	}
	if s.db, err = Connect(ctx, source, o.LockWait, s.log); err != nil {
		return nil, err
	}
	s.d = s.db.Dialect()
	if source.Idempotency != "" {
		s.answers = Qualified(s.d, source.Schema, source.Idempotency)
	}
	v, err := s.learn(ctx, nil)
	if err == nil {
		s.view.Store(v)
		err = s.judgeClients()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the database: %w", err), s.db.Close())
	}
	for _, t := range v.tables {
		if t.Target != nil && t.Target.Lasting != "" && t.writes() {
			s.log.Warn("a table has no transactions: of a write that is refused or fails a part may stay", zap.String("resource", t.Name), zap.String("table", t.Table), zap.String("engine", t.Target.Lasting))
		}
	}
	s.watch()
	return s, nil
}

// Connect opens the database of a source.
func Connect(ctx context.Context, source *sheet.SQL, wait time.Duration, log *zap.Logger) (sqlrecord.DB, error) {
	return sqlrecord.OpenForeign(ctx, sqlrecord.ForeignOptions{
		Engine: source.Engine, DSN: string(source.DSN), Session: source.Session, Connections: source.Connections,
		LockWait: cmp.Or(max(wait, 0), DefaultLockWait), Log: log,
	})
}

// table returns a resource's table, or why the resource is closed.
func (s *Store) table(r *mapping.Resource) (*Mapped, error) {
	v := s.view.Load()
	switch t, closed := v.tables[r], v.closed[r]; {
	case closed != nil && closed.Reads:
		return nil, fmt.Errorf("%w: %s", backend.ErrChanged, closed.What)
	case t == nil:
		return nil, fmt.Errorf("the sheet has no resource %s", r.Name)
	default:
		return t, nil
	}
}

// Get implements backend.Reader.
func (s *Store) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (rec mapping.Record, err error) {
	q.ForUpdate = false // outside of a transaction nothing can hold the lock
	err = s.reading(ctx, r, q, func(on session) (err error) {
		rec, err = on.get(ctx, r, q)
		return err
	})
	return rec, err
}

// List implements backend.Reader.
func (s *Store) List(ctx context.Context, r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	read := func() error {
		return s.reading(ctx, r, q, func(on session) error {
			page, err = on.page(ctx, r, q)
			return err
		})
	}
	if err = read(); unheld(err, q.Filters) == nil {
		return page, err
	}
	possible := false
	if q, possible = s.holdable(ctx, s.Mapped(r), q); !possible {
		return backend.Page{Records: []mapping.Record{}}, nil
	}
	err = read()
	return page, err
}

// reading runs f, in one snapshot if f takes several statements.
func (s *Store) reading(ctx context.Context, r *mapping.Resource, q backend.Query, f func(session) error) error {
	if r.HasArray(q.Fields) || q.Total {
		return s.snapshot(ctx, f)
	}
	return s.db.Read(ctx, func(c sqlrecord.Conn) error { return f(session{Store: s, conn: c}) })
}

// Supports implements backend.Supporter.
func (s *Store) Supports(r *mapping.Resource, op mapping.Scope) bool { return s.sheet.Supports(r, op) }

// Writes implements backend.Supporter.
func (s *Store) Writes(r *mapping.Resource, f *mapping.Field) bool { return s.sheet.Writes(r, f) }

// Collation implements backend.Collator. A code list is compared by its codes.
func (s *Store) Collation(r *mapping.Resource, f *mapping.Field) string {
	t := s.Mapped(r)
	switch c := &t.SQL.Fields[f.Index]; {
	case c.Read != "":
		return backend.UnknownCollation
	case len(c.Names) == 1 && len(c.Codes) == 0:
		return t.ColumnOf(c.Names[0]).collation
	default:
		return ""
	}
}

// Capabilities implements backend.Driver.
func (s *Store) Capabilities() backend.Capabilities {
	return backend.Capabilities{Name: "legacy", Store: s.source.Engine, Version: s.view.Load().version, OwnRules: s.sheet.OwnRules, Atomic: s.answers != ""}
}

// Shares implements backend.Sharer. Writes by the sheet's statements do not share: these may have effects
// outside of the transaction.
func (s *Store) Shares(r *mapping.Resource, op mapping.Scope) bool {
	t := s.view.Load().tables[r]
	if t == nil {
		return false
	}
	if t.SQL.Statements[op] != nil {
		return false
	}
	for _, i := range t.arrays {
		if op == mapping.OpCreate && !s.Shares(r.Fields[i].Target(), op) {
			return false
		}
	}
	return true
}

// Ping implements backend.Pinger.
func (s *Store) Ping(ctx context.Context) error { return sqlrecord.Reserved(s.db).Ping(ctx) }

// Pool implements backend.Pooler.
func (s *Store) Pool() backend.Pool { return sqlrecord.PoolOf(s.db) }

// Close implements backend.Driver.
func (s *Store) Close() error {
	if s.stop != nil {
		s.stop()
		<-s.stopped
	}
	return s.db.Close()
}
