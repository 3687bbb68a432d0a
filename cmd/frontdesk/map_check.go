package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/legacy"
	"frontdesk/backend/mapcheck"
	"frontdesk/backend/remote"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config/strictyaml"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

type mapCheckCommand struct {
	sheetFlags
	Rows     int    `default:"1000" help:"How many rows of each resource are looked at."`
	Client   string `placeholder:"ID[:NAME]" help:"The client whose records an HTTP service is asked for, and that --write writes in."`
	Username string `placeholder:"NAME" help:"A user whose client's records an HTTP service is asked for."`
	Other    string `placeholder:"ID[:NAME]" help:"Another client, to see that an HTTP service shows it nothing of the first one's."`
	Write    bool   `help:"Write too, in the client that --client names: records back as they were read, and one of each resource that is made, changed and deleted."`
	Format   string `enum:"text,json" default:"text" help:"text or json."`
}

// Run fails where something does not fit.
func (c mapCheckCommand) Run(p desk.Program) error {
	if c.Rows < 1 {
		return desk.Misused("--rows %d: expected at least 1", c.Rows)
	}
	if c.Write && c.Client == "" {
		return desk.Misused("--write: expected --client too, the client whose records may be written")
	}
	s, model, err := c.load()
	var problems strictyaml.Problems
	if errors.As(err, &problems) && c.Format == "json" {
		return errors.Join(mapcheck.Unreadable(problems).WriteJSON(p.Stdout), desk.Misused("the sheet has %d problem(s)", len(problems)))
	}
	if err != nil {
		return err
	}
	o := mapcheck.Options{Sheet: s, Model: model, Rows: c.Rows}
	var report *mapcheck.Report
	if c.Write {
		if o.Write, err = numbered("client", c.Client); err != nil {
			return err
		}
	}
	if s.Source.SQL != nil {
		o.Open = openDatabase
		report, err = mapcheck.SQL(p.Ctx, o)
	} else {
		report, err = c.service(p.Ctx, s, o)
	}
	if err != nil {
		return err
	}
	write := report.WriteText
	if c.Format == "json" {
		write = report.WriteJSON
	}
	if err := write(p.Stdout); err != nil {
		return err
	}
	if n := report.Count(mapcheck.Error); n > 0 {
		return fmt.Errorf("the sheet does not fit: %d error(s)", n)
	}
	return nil
}

// service compares with an HTTP service. IDs that are given out for its keys on
// the way are forgotten.
func (c mapCheckCommand) service(ctx context.Context, s *sheet.Sheet, o mapcheck.Options) (report *mapcheck.Report, err error) {
	kept, release, err := openScratch(ctx, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	store, err := remote.Open(ctx, remote.Options{
		Sheet: s, IDStore: kept, Hasher: auth.NewHasher(), RequestID: func(context.Context) string { return "" }, Now: time.Now, Random: mathrand.Float64,
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	client, err := c.client(ctx, store)
	if err != nil {
		return nil, err
	}
	if c.Other != "" {
		if o.Other, err = numbered("other", c.Other); err != nil {
			return nil, err
		}
	}
	o.Sheet = store.Sheet // with the model narrowed to what an adapter offers
	return mapcheck.HTTP(ctx, store, client, o)
}

// client is whose records are asked for.
func (c mapCheckCommand) client(ctx context.Context, store *remote.Store) (auth.Client, error) {
	if c.Username != "" {
		user, err := store.FindUser(ctx, c.Username)
		if err != nil {
			return auth.Client{}, fmt.Errorf("find user %s: %w", c.Username, err)
		}
		return user.Client, nil
	}
	return numbered("client", cmp.Or(c.Client, "1"))
}

// numbered is a client as a flag names it.
func numbered(flag, value string) (auth.Client, error) {
	number, name, _ := strings.Cut(value, ":")
	id, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return auth.Client{}, desk.Misused("--%s %s: expected a number, or number and name such as 7:garage-noord", flag, value)
	}
	return auth.Client{ID: id, Name: name}, nil
}

// database is one that a sheet is served by, with IDs that are forgotten.
type database struct {
	*legacy.Store
	release func() error
}

func (d database) Close() error { return errors.Join(d.Store.Close(), d.release()) }

// openDatabase opens the database of a sheet as the gateway does.
func openDatabase(ctx context.Context, s *sheet.Sheet) (backend.Driver, error) {
	kept, release, err := openScratch(ctx, s)
	if err != nil {
		return nil, err
	}
	store, err := legacy.Open(ctx, legacy.Options{Sheet: s, IDStore: kept, Now: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, errors.Join(err, release())
	}
	return database{store, release}, nil
}

// operations are those of a resource, in the order that they are shown.
func operations() []mapping.Scope {
	return []mapping.Scope{mapping.OpGet, mapping.OpList, mapping.OpCreate, mapping.OpUpdate, mapping.OpDelete}
}
