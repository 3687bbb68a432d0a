package legacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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
	_ backend.Driver       = (*Store)(nil)
	_ backend.Pinger       = (*Store)(nil)
	_ backend.Exporter     = (*Store)(nil)
	_ backend.Supporter    = (*Store)(nil)
	_ backend.Pooler       = (*Store)(nil)
	_ backend.Sharer       = (*Store)(nil)
	_ backend.ChangeTeller = (*Store)(nil)
	_ auth.Accounts        = (*Store)(nil)
)

// Options say what a Store works with. Sheet, Now and Random are required; IDStore if the
// sheet has no other place for IDs and idempotency keys; Hasher if users log in.
type Options struct {
	Sheet   *sheet.Sheet
	IDStore IDStore
	Now     func() time.Time
	// Random is where GUIDs come from.
	Random io.Reader
	// Hasher judges the passwords of users.
	Hasher *auth.Hasher
	// LockWait bounds the wait for a row that another transaction holds; 0 for
	// DefaultLockWait. It should be well below the backend's timeout.
	LockWait time.Duration
	// Log is told of transactions that are run again; nil for nobody.
	Log *zap.Logger
}

// DefaultLockWait is how long to wait for a row if nothing else is said.
const DefaultLockWait = 3 * time.Second

// Store is an existing SQL database. It is safe for concurrent use.
type Store struct {
	auth.Elsewhere // its users change their passwords there
	follow.Teller

	sheet  *sheet.Sheet
	source *sheet.SQL
	d      dialect
	pools
	direct  *sqlrecord.SQLiteReaders // nil where records are read through db
	binary  bool                     // records are read as PostgreSQL sends them
	kept    *prepared                // nil where the engine's driver keeps statements itself
	idStore IDStore
	tables  map[*mapping.Resource]*table
	shapes  shapes // of the statements that read records
	answers string // quoted table of answers under idempotency keys; "" for the id store
	now     func() time.Time
	random  io.Reader
	log     *zap.Logger
	version string

	functions map[string]bool // routines of PostgreSQL that are selected from
	passwords *auth.ForeignHashes
}

// Open connects to the database of a sheet. It fails if the database does not answer, or if
// the sheet asks for something that the engine lacks. The caller closes the Store, but the id
// store stays with its owner.
func Open(ctx context.Context, o Options) (*Store, error) {
	s, err := newStore(o)
	if err != nil {
		return nil, err
	}
	if err := s.connect(ctx, o); err != nil {
		return nil, err
	}
	return s, nil
}

// Judge returns what a sheet asks for that its engine lacks, and tells whether its DSN is one
// of the engine, without connecting.
func Judge(sh *sheet.Sheet) error {
	s, err := newStore(Options{Sheet: sh, IDStore: struct{ IDStore }{}}) // which there will be
	if err == nil {
		_, err = s.d.connector(string(s.source.DSN), nil)
	}
	return err
}

// newStore compiles the sheet, without a connection.
func newStore(o Options) (*Store, error) {
	source := o.Sheet.Source.SQL
	if source == nil {
		return nil, errors.New("the sheet is of no SQL database")
	}
	d, err := dialectOf(source.Engine)
	if err != nil {
		return nil, err
	}
	s := &Store{
		Elsewhere: auth.Elsewhere{Where: o.Sheet.Accounts.ForgotPassword}, sheet: o.Sheet, source: source, d: d, idStore: o.IDStore, tables: map[*mapping.Resource]*table{}, now: o.Now, random: o.Random, log: o.Log,
		functions: map[string]bool{},
	}
	if s.log == nil {
		s.log = zap.NewNop()
	}
	if source.Idempotency != "" {
		s.answers = qualified(d, source.Schema, source.Idempotency)
	}
	if s.passwords, err = auth.NewForeignHashes(o.Hasher, o.Sheet.Accounts.Hash); err != nil {
		return nil, fmt.Errorf("accounts.hash: %w", err)
	}
	var problems []error
	for _, r := range o.Sheet.Model.Resources {
		t, err := newTable(d, source.Schema, o.Sheet.Resources[r])
		if err == nil {
			err = s.possible(t)
		}
		problems = append(problems, err)
		s.tables[r] = t
	}
	for _, t := range s.tables { // what is learnt of a table holds for its rows' owners too
		if t != nil && t.parent != nil {
			t.parent = s.tables[t.Parent().Resource]
		}
	}
	return s, errors.Join(problems...)
}

// possible checks that the engine can do what a sheet asks for.
func (s *Store) possible(t *table) error {
	if t.Key.Kept && s.idStore == nil {
		return fmt.Errorf("resource %s: IDs must be kept, and there is no keep", t.Name)
	}
	for _, op := range t.Operations {
		if slices.Contains(op.Arguments, ":username") {
			return fmt.Errorf("resource %s: %s: argument :username is not known to a database, only :client is", t.Name, op.Procedure)
		}
	}
	if s.d.engine() != "sqlite" {
		return nil
	}
	for _, op := range t.Operations {
		if op.Procedure != "" || op.After != "" || t.Key.Generated == "sequence" {
			return fmt.Errorf("resource %s: %w", t.Name, errNoProcedures)
		}
	}
	return nil
}

// connect opens the pool and reads what only the database knows.
func (s *Store) connect(ctx context.Context, o Options) error {
	wait := cmp.Or(max(o.LockWait, 0), DefaultLockWait)
	c, err := s.d.connector(string(s.source.DSN), append(s.d.session(wait), s.source.Session...))
	if err != nil {
		return err
	}
	s.pools = openPools(c, s.source.Connections)
	if s.isMySQL() {
		s.kept = newPrepared(s.db)
	}
	s.binary = s.d.engine() == "postgres" && asksInBinary(string(s.source.DSN))
	if s.d.engine() == "sqlite" {
		s.direct = directReaders(string(s.source.DSN), append(s.d.session(wait), s.source.Session...), s.source.Connections)
	}
	if err := s.learn(ctx); err != nil {
		return errors.Join(fmt.Errorf("open the database: %w", err), s.Close())
	}
	return nil
}

// learn asks for the engine's version, and which routines are functions.
func (s *Store) learn(ctx context.Context) error {
	row, err := queryOne(ctx, s.db, newStatement(s.d).add(s.d.schema().version))
	if err != nil {
		return err
	}
	if len(row) == 1 {
		s.version = row[0].String()
	}
	if err := s.learnTables(ctx); err != nil {
		return err
	}
	s.warnOfSharedNames(ctx)
	if s.d.engine() != "postgres" {
		return nil
	}
	for _, t := range s.tables {
		for _, op := range t.Operations {
			name := cmp.Or(op.Procedure, op.After)
			if name == "" {
				continue
			}
			if err := s.learnRoutine(ctx, name); err != nil {
				return err
			}
		}
	}
	return nil
}

// learnTables reads what the sheet does not say of its tables: which keys are compared without
// case, which are unique only per client, and which columns of PostgreSQL are whole numbers.
func (s *Store) learnTables(ctx context.Context) error {
	schema, err := s.Inspect(ctx, TablesOf(s.sheet)...)
	if err != nil {
		return err
	}
	for _, t := range s.tables {
		if known := schema.Table(t.Table); known != nil {
			t.known, t.referrers = known, schema.Referrers(s.sheet, t.Resource)
			if known.IgnoresCase(t.Resource) {
				t.Key.IgnoresCase = true
				if err := s.idStore.IgnoreCase(ctx, t.Name); err != nil {
					return err
				}
			}
			t.perClient = t.Client != "" && slices.ContainsFunc(known.Primary, func(column string) bool { return strings.EqualFold(column, t.Client) })
		}
		if known := schema.Table(t.Read); known != nil {
			t.learn(known)
		}
		t.others = map[string]*Table{}
		for _, row := range t.besides(isWritten) {
			t.others[row.Table] = schema.Table(row.Table)
		}
	}
	if err := s.judgeZones(ctx, schema); err != nil {
		return err
	}
	return s.judgeClients(schema)
}

// learn notes what the types of columns mean for comparisons.
func (t *table) learn(known *Table) {
	for place, nulls := range t.nulls {
		c := known.Column(place)
		if len(nulls) == 1 && c != nil && !c.Nullable && strings.Trim(nulls[0].String(), "0-: ") == "" && !t.isBelowZero(c) {
			delete(t.nulls, place) // it is below every value, and there is no other
		}
	}
	if c := known.Column(t.Client); c != nil {
		t.clientIsText = c.Sort(t.d.engine()) == "text"
	}
	t.learnTypes(known)
	t.CountBlanks(func(place string) bool {
		c := known.Column(place) // a reference that is no column, as by lookup, may be padded
		return (c != nil || slices.Contains(t.Key.Places, place)) && t.countsBlanks(c)
	})
	t.whole, t.padded = map[string]bool{}, map[string]bool{}
	if t.d.engine() == "postgres" {
		for _, c := range known.Columns {
			t.whole[c.Name] = c.Type == "smallint" || c.Type == "integer" || c.Type == "bigint"
			t.filled[c.Name] = t.filled[c.Name] || !c.Nullable && t.from == t.name
		}
	}
	for i := range t.Fields {
		for _, place := range t.Fields[i].From {
			t.padded[place] = t.padded[place] || t.Fields[i].TrimsRight() && t.countsBlanks(known.Column(place))
		}
	}
}

// isBelowZero tells whether a column may hold numbers below zero.
func (t *table) isBelowZero(c *Column) bool {
	return !strings.Contains(c.Type, "unsigned") && slices.ContainsFunc(t.Fields, func(f sheet.Field) bool {
		return (f.Type == mapping.Int4 || f.Type == mapping.Float8) && !isReference(f.Field) && !f.Primary && slices.Contains(f.From, c.Name)
	})
}

// countsBlanks tells whether texts of a column differ if they differ only in trailing blanks; nil
// is none, such as an expression.
func (t *table) countsBlanks(c *Column) bool {
	if c == nil {
		return t.d.engine() == "postgres" || t.d.engine() == "sqlite"
	}
	sort := c.Sort(t.d.engine())
	return c.CountsBlanks && sort != "integer" && sort != "decimal" // which RTRIM does not take
}

// TablesOf are the tables and views that a sheet names.
func TablesOf(sh *sheet.Sheet) (names []string) {
	for _, r := range sh.Resources {
		names = append(names, r.Table, r.Read)
		if r.Changes.Table != nil {
			names = append(names, r.Changes.Table.Name)
		}
		for _, p := range r.Places {
			if p.Lookup != nil {
				names = append(names, p.Lookup.Table)
			}
		}
	}
	return append(names, sh.Accounts.Table)
}

func (s *Store) learnRoutine(ctx context.Context, name string) error {
	quoted := qualified(s.d, s.source.Schema, name)
	q := newStatement(s.d).add("SELECT prokind FROM pg_catalog.pg_proc WHERE oid = to_regproc(").arg(textRaw(quoted)).add(")")
	row, err := queryOne(ctx, s.db, q)
	if err != nil {
		return err
	}
	s.functions[name] = len(row) == 1 && row[0].String() == "f"
	return nil
}

// table returns what is known of a resource's table.
func (s *Store) table(r *mapping.Resource) (*table, error) {
	if t := s.tables[r]; t != nil {
		return t, nil
	}
	return nil, fmt.Errorf("the sheet has no resource %s", r.Name)
}

// Get implements backend.Reader.
func (s *Store) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	q.ForUpdate = false // nothing could hold it
	var held heldRecord
	read := s.read
	if r.HasArray(q.Fields) {
		read = s.readAtOnce
	}
	err := read(ctx, func(on session) (err error) {
		held, err = on.get(ctx, r, q)
		return err
	})
	return held.rec, err
}

// List implements backend.Reader.
func (s *Store) List(ctx context.Context, r *mapping.Resource, q backend.Query) (page backend.Page, err error) {
	read := s.read
	if r.HasArray(q.Fields) {
		read = s.readAtOnce
	}
	err = read(ctx, func(on session) error {
		page, err = on.page(ctx, r, q)
		return err
	})
	return page, err
}

// Write implements backend.Driver.
func (s *Store) Write(ctx context.Context, f func(backend.Tx) error) error {
	return s.Telling(ctx, f, func(f func(backend.Tx) error) error {
		return s.inTx(ctx, func(t *txn) error { return f(t) })
	})
}

// Supports implements backend.Supporter.
func (s *Store) Supports(r *mapping.Resource, op mapping.Scope) bool {
	return s.sheet.Supports(r, op)
}

// Writes implements backend.Supporter.
func (s *Store) Writes(r *mapping.Resource, f *mapping.Field) bool {
	return s.sheet.Writes(r, f)
}

// Capabilities implements backend.Driver.
func (s *Store) Capabilities() backend.Capabilities {
	return backend.Capabilities{Name: "legacy", Store: s.d.engine(), Version: s.version, OwnRules: s.sheet.OwnRules, Atomic: s.answers != ""}
}

// Shares implements backend.Sharer: nobody knows what procedures do beside the transaction.
func (s *Store) Shares(r *mapping.Resource, op mapping.Scope) bool {
	t := s.tables[r]
	if o := t.Operations[op]; o != nil && (o.Procedure != "" || o.After != "") {
		return false
	}
	for _, i := range t.arrays {
		if op == mapping.OpCreate && !s.Shares(r.Fields[i].Target(), op) {
			return false
		}
	}
	return true
}

// Close implements backend.Driver.
func (s *Store) Close() error {
	if s.direct != nil {
		return errors.Join(s.direct.Close(), s.pools.close())
	}
	return s.pools.close()
}
