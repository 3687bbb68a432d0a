package desk

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
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

// The backends that are built in, as backend.driver names them.
const (
	ReferenceDriver = "reference"
	legacyDriver    = "legacy"
	remoteDriver    = "remote"
)

// System is an opened backend with what comes with it.
type System struct {
	driver   backend.Driver
	accounts auth.Accounts
	model    *mapping.Model
	// own is where the gateway keeps tables of its own: callback jobs, and beside
	// a system that is not ours also IDs and answers.
	Own *OwnDatabase
	// replica answers lists; nil where there is none.
	replica *sqlrecord.Replica
	// untilLag tells how far until stays behind writes that are under way; nil where
	// none outlives a list.
	untilLag func(context.Context) (time.Duration, error)
	// loginsAtOnce is how many may be verified at once.
	loginsAtOnce int
	// releases close what was opened, last first.
	releases []func() error
}

func (s *System) onClose(f func() error) { s.releases = append(s.releases, f) }

// Close closes what was opened, last first.
func (s *System) Close() error {
	var all []error
	for _, release := range slices.Backward(s.releases) {
		all = append(all, release())
	}
	return errors.Join(all...)
}

// OwnDatabase is a database of the gateway's own.
type OwnDatabase struct {
	Db   sqlrecord.DB
	file string // of SQLite; "" for PostgreSQL, which several gateways may share
}

// OpenSystem opens the backend of a configuration.
func OpenSystem(ctx context.Context, c *config.Config, hasher *auth.Hasher, log *zap.Logger) (s *System, err error) {
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
	if c.Backend.Driver == ReferenceDriver {
		return s, s.openReference(ctx, c, hasher, log)
	}
	sh, err := LoadSheet(c.Backend.Sheet, s.model, c.Server.TimeZone.Location)
	if err != nil {
		return s, err
	}
	s.model = sh.Model
	if s.Own, err = openOwn(ctx, sh, lockWait(c), log); err != nil {
		return s, err
	}
	s.onClose(s.Own.Db.Close)
	kept, err := openStore(ctx, sh, s.Own, log)
	if err != nil {
		return s, err
	}
	if c.Backend.Driver == legacyDriver {
		return s, s.openLegacy(ctx, c, sh, kept, hasher, log)
	}
	return s, s.openRemote(ctx, sh, kept, hasher, log)
}

func (s *System) openReference(ctx context.Context, c *config.Config, hasher *auth.Hasher, log *zap.Logger) error {
	file := DatabaseFileOf(c)
	var store *reference.Store
	err := WithSpare(file, func() (err error) {
		store, err = reference.Open(ctx, reference.Options{
			DSN: string(c.Backend.DSN), Model: s.model, Hasher: hasher, Now: time.Now, Readers: c.Backend.Readers, LockWait: lockWait(c), Log: log,
			Replica: string(c.Backend.Replica), ReplicaWait: c.Backend.ReplicaWait, ReplicaPause: c.Backend.Circuit.Pause,
		})
		return err
	})
	if err != nil {
		return fmt.Errorf("open the administration: %w", err)
	}
	s.onClose(store.Close)
	if file == "" {
		s.untilLag = store.UntilLag
	}
	s.driver, s.accounts, s.Own, s.replica = store, store, &OwnDatabase{store.Database(), file}, store.Replica()
	return nil
}

// lockWait is how long a statement waits for a lock: a call meets a row that is held
// before its time is up, and can say so.
func lockWait(c *config.Config) time.Duration {
	return min(legacy.DefaultLockWait, c.Backend.Timeout/3)
}

func (s *System) openLegacy(ctx context.Context, c *config.Config, sh *sheet.Sheet, kept *idstore.Store, hasher *auth.Hasher, log *zap.Logger) error {
	passwords, err := passwordsOf(sh, hasher)
	if err != nil {
		return err
	}
	store, err := legacy.Open(ctx, legacy.Options{
		Sheet: sh, IDStore: kept, Now: time.Now, Random: rand.Reader, Passwords: passwords, LockWait: lockWait(c), Log: log,
	})
	if err != nil {
		return fmt.Errorf("open the database of %s: %w", sh.File, err)
	}
	s.onClose(store.Close)
	s.driver, s.accounts = store, store
	return nil
}

func (s *System) openRemote(ctx context.Context, sh *sheet.Sheet, kept *idstore.Store, hasher *auth.Hasher, log *zap.Logger) error {
	store, err := remote.Open(ctx, remote.Options{
		Sheet: sh, IDStore: kept, Hasher: hasher, RequestID: gateway.RequestIDOf, Trace: traceHeaders, Log: log, Now: time.Now, Random: mathrand.Float64,
	})
	if err != nil {
		return fmt.Errorf("open the service of %s: %w", sh.File, err)
	}
	s.onClose(store.Close)
	s.driver, s.accounts, s.model = store, store, store.Sheet.Model
	s.loginsAtOnce = cmp.Or(store.LoginsAtOnce(), s.loginsAtOnce)
	return nil
}

// LoadSheet reads a mapping sheet and judges it against the model, and the zone in
// which clients' dates begin, nil where that is not known.
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

// RuleFields tells sheets what rules work with.
func RuleFields(rule string) []string {
	fields, _ := backend.RuleFields(rule)
	return fields
}

// openFile opens a SQLite database, on a full disk too.
func openFile(file string, o sqlrecord.Options) (db sqlrecord.DB, err error) {
	err = WithSpare(file, func() error {
		db, err = sqlrecord.OpenSQLite(file, o)
		return err
	})
	return db, err
}

func isPostgres(dsn string) bool {
	return strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://")
}

// passwords are how the users of a sheet are verified: those of its list by
// argon2id, those of a table by the hashes that the sheet names.
type passwords struct{ listed, stored *auth.ForeignHashes }

func passwordsOf(sh *sheet.Sheet, hasher *auth.Hasher) (p passwords, err error) {
	if p.listed, err = auth.NewForeignHashes(hasher, nil); err != nil {
		return p, err
	}
	hashes := make([]auth.ForeignHash, len(sh.Accounts.Hash))
	for i, h := range sh.Accounts.Hash {
		hashes[i] = auth.ForeignHash{Algorithm: h.Algorithm, Salt: h.Salt, PasswordSalt: h.PasswordSalt, Base64: h.Base64}
	}
	if p.stored, err = auth.NewForeignHashes(hasher, hashes); err != nil {
		return p, fmt.Errorf("%s: accounts.hash: %w", sh.File, err)
	}
	return p, nil
}

// Verify implements legacy.Passwords.
func (p passwords) Verify(ctx context.Context, password, stored string, salts map[string]string, hashes []sheet.Hash) (bool, error) {
	if len(hashes) == 0 {
		return p.listed.Verify(ctx, password, stored, salts)
	}
	return p.stored.Verify(ctx, password, stored, salts)
}
