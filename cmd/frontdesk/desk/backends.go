package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/backend/idstore"
	"frontdesk/backend/legacy"
	"frontdesk/backend/reference"
	"frontdesk/backend/remote"
	"frontdesk/backend/sqlrecord"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// ReferenceDriver is the built-in administration, as backend.driver names it.
const ReferenceDriver = "reference"

// driver is a backend that is built in.
type driver struct {
	open func(*System, opening) error
	// judge checks a mapping sheet before anything is opened; nil for a driver without a sheet.
	judge func(*sheet.Sheet) error
	// exports, until, distant and feeds are the driver's abilities, known before it is open; see backend.Offer.
	exports, until, distant bool
	feeds                   func(*mapping.Resource) backend.Feed
}

// drivers returns the drivers of the program by the names that backend.driver takes.
func drivers() map[string]driver {
	return map[string]driver{
		ReferenceDriver: {open: (*System).openReference, exports: true, until: true, feeds: (*reference.Store)(nil).Feed},
		"legacy":        {open: bySheet((*System).openLegacy), judge: legacy.Judge, exports: true},
		"remote":        {open: bySheet((*System).openRemote), judge: remote.Judge, distant: true},
	}
}

// opening holds what a driver needs to open.
type opening struct {
	ctx    context.Context
	config *config.Config
	hasher *auth.Hasher
	log    *zap.Logger
	dial   dial // nil for the system's
}

// dial connects to a service or a receiver.
type dial = func(ctx context.Context, network, address string) (net.Conn, error)

// System is an opened backend with what comes with it.
type System struct {
	driver   backend.Driver
	accounts auth.Accounts
	model    *mapping.Model
	whole    *mapping.Model // the model of the configuration; with a sheet, model is the part that the sheet maps
	// Own is where the gateway keeps tables of its own: callback jobs and, for a mapped
	// system, IDs and idempotency answers.
	Own *OwnDatabase
	// untilLag returns by how much the until of lists lags behind the clock because writes are under
	// way; nil if no write outlives a list.
	untilLag func(context.Context) (time.Duration, error)
	// changes returns how many changes are kept, and up to when they are reported; nil where none are kept.
	changes ChangesState
	// follower looks for the changes of a mapped system; nil where none are reported.
	follower *follow.Follower
	// loginsAtOnce is how many logins may be verified at once.
	loginsAtOnce int
	releases
}

// Close closes what was opened, last first.
func (s *System) Close() error { return s.release() }

// OwnDatabase is a database of the gateway's own.
type OwnDatabase struct {
	Db   sqlrecord.DB
	file string // the SQLite file; "" for PostgreSQL, which several gateways may share
}

// OpenSystem opens the backend of a configuration.
func OpenSystem(ctx context.Context, c *config.Config, hasher *auth.Hasher, log *zap.Logger) (*System, error) {
	return openSystem(Program{Ctx: ctx}, c, hasher, log)
}

func openSystem(p Program, c *config.Config, hasher *auth.Hasher, log *zap.Logger) (s *System, err error) {
	s = &System{loginsAtOnce: auth.LoginsAtOnce}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.Close())
			s = nil
		}
	}()
	if s.model, err = mapping.LoadModel(c.Model.Dir); err != nil {
		return s, err
	}
	s.whole = s.model
	return s, drivers()[c.Backend.Driver].open(s, opening{p.Ctx, c, hasher, log, p.Dial})
}

func (s *System) openReference(o opening) error {
	c := o.config
	file := DatabaseFileOf(c)
	var store *reference.Store
	err := WithReserve(file, func() (err error) {
		store, err = reference.Open(o.ctx, reference.Options{
			DSN: string(c.Backend.DSN), Model: s.model, Hasher: o.hasher, Now: time.Now, LockWait: lockWait(c), Log: o.log,
			KeepChanges: c.Changes.Keep,
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("open the administration: %w", err)
	}
	s.onClose(store.Close)
	s.changes = store.ChangesState
	if file == "" {
		s.untilLag = store.UntilLag
	}
	s.driver, s.accounts, s.Own = store, store, &OwnDatabase{store.Database(), file}
	return nil
}

// lockWait is how long a statement waits for a lock. It is shorter than the deadline of a call, so that
// the call can still report that a row is locked.
func lockWait(c *config.Config) time.Duration {
	return min(legacy.DefaultLockWait, c.Backend.Timeout/3)
}

// openOwn opens the gateway's own database, for a driver that does not bring one.
func (s *System) openOwn(o opening, d Database) (err error) {
	s.Own = &OwnDatabase{file: d.file()}
	if s.Own.file == "" {
		s.Own.Db, err = sqlrecord.OpenPostgres(o.ctx, d.dsn, sqlrecord.Options{LockWait: lockWait(o.config), Log: o.log})
	} else {
		s.Own.Db, err = openFile(s.Own.file, sqlrecord.Options{})
	}
	if err != nil {
		return fmt.Errorf("%s: %w", d.setting, err)
	}
	s.onClose(s.Own.Db.Close)
	return nil
}

// bySheet opens a driver that works by a mapping sheet, with the IDs that clients know.
func bySheet(open func(*System, opening, *sheet.Sheet, *idstore.Store) error) func(*System, opening) error {
	return func(s *System, o opening) error {
		sh, err := LoadSheet(o.config.Backend.Sheet, s.model, o.config.Server.TimeZone.Location)
		if err != nil {
			return err
		}
		s.model = sh.Model
		if _, err := ownFile(sh); err != nil {
			return err
		}
		if err := s.openOwn(o, sheetDatabase(sh)); err != nil {
			return err
		}
		kept, err := openStore(o.ctx, sh, s.Own, o.log)
		if err != nil {
			return err
		}
		return open(s, o, sh, kept)
	}
}

// connectPatience is how long a vendor's database may take to answer at the start. It can be short,
// since frontdesk migrates nothing there.
const connectPatience = 30 * time.Second

func (s *System) openLegacy(o opening, sh *sheet.Sheet, kept *idstore.Store) error {
	ctx, cancel := context.WithTimeout(o.ctx, connectPatience)
	defer cancel()
	store, err := legacy.Open(ctx, legacy.Options{
		Sheet: sh, IDStore: kept, Now: time.Now, Hasher: o.hasher, LockWait: lockWait(o.config), Log: o.log, User: gateway.UserOf,
	})
	if err != nil {
		return fmt.Errorf("open the database of %s: %w", sh.File, err)
	}
	s.onClose(store.Close)
	s.driver, s.accounts = store, store
	s.follower, err = follow.Open(o.ctx, follow.Options{
		Reader: store, DB: s.Own.Db, Sheet: sh, Keep: o.config.Changes.Keep, Timeout: o.config.Backend.Timeout, Log: o.log,
	})
	if err != nil || s.follower == nil {
		return err
	}
	s.onClose(s.follower.Close)
	s.changes = s.follower.State
	store.SetFollower(s.follower)
	return nil
}

// openRemote opens a service, with the copy of its records in the gateway's own database.
func (s *System) openRemote(o opening, sh *sheet.Sheet, kept *idstore.Store) error {
	d, err := remote.OpenDriver(o.ctx, remote.Options{
		Sheet: sh, IDStore: kept, Hasher: o.hasher, RequestID: gateway.RequestIDOf, Trace: traceHeaders, Log: o.log, Now: time.Now, Random: mathrand.Float64,
		DB: s.Own.Db, Model: s.whole, KeepChanges: o.config.Changes.Keep, Timeout: o.config.Backend.Timeout, Dial: o.dial,
	})
	if err != nil {
		return fmt.Errorf("open the service of %s: %w", sh.File, err)
	}
	s.onClose(d.Close)
	s.driver, s.accounts, s.changes = d, d, d.ChangesState
	s.loginsAtOnce = cmp.Or(d.LoginsAtOnce(), s.loginsAtOnce)
	return nil
}

// LoadSheet reads a mapping sheet and judges it against the model and the time zone of
// clients' dates, which is nil where it is not known.
func LoadSheet(file string, model *mapping.Model, zone *time.Location) (*sheet.Sheet, error) {
	return sheet.Load(file, model, sheet.Options{RuleFields: RuleFields, Zone: zone})
}

// sheetOf reads the mapping sheet of a configuration that has one.
func sheetOf(c *config.Config) (*sheet.Sheet, error) {
	model, err := mapping.LoadModel(c.Model.Dir)
	if err != nil {
		return nil, err
	}
	return LoadSheet(c.Backend.Sheet, model, c.Server.TimeZone.Location)
}

// RuleFields returns the fields that a rule works with; sheets are judged by them.
func RuleFields(rule string) []string {
	fields, _ := backend.RuleFields(rule)
	return fields
}

// openFile opens a SQLite database, even on a full disk.
func openFile(file string, o sqlrecord.Options) (db sqlrecord.DB, err error) {
	err = WithReserve(file, func() error {
		db, err = sqlrecord.OpenSQLite(file, o)
		return err
	})
	return db, err
}
