package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
)

// Driver is an administration behind an HTTP service: records one by one, and all writes, go
// through to the service; lists and changes come from the copy. It is safe for concurrent use.
type Driver struct {
	auth.Elsewhere // users change their passwords in the service
	*core
	conn *connector
	copy *copied
}

var (
	_ backend.Driver      = (*Driver)(nil)
	_ backend.Pinger      = (*Driver)(nil)
	_ backend.Supporter   = (*Driver)(nil)
	_ backend.ChangeFeed  = (*Driver)(nil)
	_ backend.Changing    = (*Driver)(nil)
	_ backend.Copier      = (*Driver)(nil)
	_ backend.StaleReader = (*Driver)(nil)
	_ auth.Accounts       = (*Driver)(nil)
)

// keepChanges is the default of Options.KeepChanges.
const keepChanges = 90 * 24 * time.Hour

// atOnce is how many walks run at the same time.
const atOnce = 2

// OpenDriver opens the service of a sheet, which may be down, and its copy in o.DB, whose tables it
// makes or migrates. It begins to walk. The caller closes the Driver, and then the database.
func OpenDriver(ctx context.Context, o Options) (*Driver, error) {
	if err := Judge(o.Sheet); err != nil {
		return nil, err
	}
	c := &core{Options: o.withDefaults()}
	if err := sqlrecord.MigrateCopy(ctx, o.DB, o.Model); err != nil {
		return nil, fmt.Errorf("copy of records: %w", err)
	}
	if err := sqlrecord.MigrateWith(ctx, o.DB, sqlrecord.Migrations{Table: "frontdesk_copy_version", Files: migrations}); err != nil {
		return nil, fmt.Errorf("copy of records: %w", err)
	}
	shared := func(r *mapping.Resource) bool {
		of := o.Sheet.Resources[r]
		return of != nil && (of.IsShared() || of.SystemClient != "")
	}
	records := sqlrecord.NewShared(o.DB, o.Sheet.Model, c.Now, shared).DatedBy(c.Now)
	changes, err := sqlrecord.OpenChanges(ctx, records, cmp.Or(o.KeepChanges, keepChanges))
	if err != nil {
		return nil, err
	}
	holder, err := uuid.NewRandom()
	if err != nil {
		return nil, err
	}
	d := &Driver{Elsewhere: auth.Elsewhere{Where: o.Sheet.Accounts.ForgotPassword}, core: c, copy: &copied{
		core: c, db: sqlrecord.Reserved(o.DB), records: records, changes: changes, holder: holder.String(),
		sources: newSources(o.Sheet), walking: make(chan struct{}, atOnce), leftOut: map[backend.Place]int64{},
	}}
	if d.conn, err = newConnector(c, d.copy.owners); err != nil {
		return nil, err
	}
	d.copy.conn = d.conn
	d.copy.recent, _ = lru.New[recordKey, held](keptRecent) // cannot fail: the size is positive
	d.copy.start(ctx)
	return d, nil
}

// start begins to walk.
func (c *copied) start(ctx context.Context) {
	c.done, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	for _, s := range c.sources {
		if !s.r.Service.PerClient {
			s.of(c, auth.Client{})
		}
	}
}

// Close ends all work and waits for it.
func (d *Driver) Close() error {
	d.copy.stop()
	d.copy.running.Wait()
	d.conn.close()
	return nil
}

// ownersAtOnce bounds the owners that are read one by one for the records of a page.
const ownersAtOnce = 20

// owners returns the clients of records that others belong to. A record that the copy lacks may be new:
// it is read from the service.
func (c *copied) owners(ctx context.Context, client auth.Client, m *mapping.Resource, ids []int32) (map[int32]int64, error) {
	all := make(map[int32]int64, len(ids))
	missing, err := c.addOwners(ctx, m, ids, all)
	s := c.sources[m]
	if err != nil || len(missing) == 0 || s == nil || s.r.Resource != m {
		return all, err
	}
	if s.r.Service.Walk.Since != nil {
		if err = c.joined(ctx, s.of(c, client), true); err == nil {
			missing, err = c.addOwners(ctx, m, missing, all)
		}
	}
	for _, id := range missing[:min(len(missing), ownersAtOnce)] {
		if err != nil || s.r.Service.Get == nil {
			return all, err
		}
		var t taken
		if t, err = c.read(ctx, s.r, client, id); err == nil && !t.hidden {
			all[id] = t.client
		} else if errors.Is(err, backend.ErrNotFound) {
			err = nil
		}
	}
	return all, err
}

// addOwners adds the clients of records that the copy has, and returns the other IDs.
func (c *copied) addOwners(ctx context.Context, m *mapping.Resource, ids []int32, all map[int32]int64) (missing []int32, err error) {
	kept, err := c.records.Kept(ctx, m, ids)
	for _, id := range ids {
		if known, has := kept[id]; has {
			all[id] = known.Client
		} else {
			missing = append(missing, id)
		}
	}
	return missing, ownFailure("copy of records", err)
}

// Capabilities implements backend.Driver.
func (d *Driver) Capabilities() backend.Capabilities {
	return backend.Capabilities{Name: "remote", Store: "http", OwnRules: d.Sheet.OwnRules, Distant: true, Copied: true, Parallel: d.conn.source.Parallel}
}

// Supports implements backend.Supporter.
func (d *Driver) Supports(r *mapping.Resource, op mapping.Scope) bool { return d.Sheet.Supports(r, op) }

// Writes implements backend.Supporter.
func (d *Driver) Writes(r *mapping.Resource, f *mapping.Field) bool { return d.Sheet.Writes(r, f) }

// Ping implements backend.Pinger.
func (d *Driver) Ping(ctx context.Context) error { return d.conn.ping(ctx) }
