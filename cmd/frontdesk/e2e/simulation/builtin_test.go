package simulation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/mapping"
)

func TestBuiltIn(t *testing.T) {
	seeds(t, func() system { return &builtIn{} })
}

// builtIn is the built-in administration on SQLite, whose writes take a while, and which fails.
type builtIn struct {
	does atomic.Value // string
	w    *world
}

func (s *builtIn) begin(w *world) {
	s.does.Store("")
	s.w = w
	data, err := rig.SampleFile()
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(filepath.Join(w.folder(), desk.DatabaseFile), data, 0o600))
	s.users(w, "INSERT INTO app_user SELECT 99, client_id, 'third', email, password_hash, 0, 0, created_at, NULL, NULL FROM app_user WHERE username = 'demo'")
}

// users changes the table of users, as others do.
func (s *builtIn) users(w *world, text string, values ...any) {
	_ = execute(w, desk.DatabaseFile, text, values...)
}

// slots are so few that one client's reads that hang would take them all, and as many as writes leave room among.
const slots = 32

func (s *builtIn) config(folder string) string {
	return fmt.Sprintf("backend: {dsn: %q, max_concurrent: %d}\ncallbacks: [GET /flatrate, PUT /flatrate, DELETE /flatrate]", "sqlite:"+filepath.Join(folder, desk.DatabaseFile), slots)
}

func (s *builtIn) wrap(*world) desk.WrapDriver {
	return func(d backend.Driver) backend.Driver { return slowDriver{d.(rig.FullDriver), s} }
}

func (s *builtIn) troubles(w *world) []trouble {
	writes, well := pick(w.random, "fails", "hangs", "panics"), func() { s.does.Store("") }
	return []trouble{
		{name: "the administration hangs for one", only: "demo", begin: func() { s.does.Store("hangs for one") }, end: well},
		{name: "the administration fails for one", only: "demo", end: well, begin: func() {
			w.during("the administration fails", "", 0, func() { // and for all at first
				s.does.Store("fails for all")
				time.Sleep(8 * time.Second)
			})
			s.does.Store("fails for one")
			time.Sleep(20 * time.Second)
		}},
		{name: "the administration " + writes, only: "writes", begin: func() { s.does.Store(writes) }, end: well},
	}
}

func (s *builtIn) behind(*world, *rand.Rand)           {}
func (s *builtIn) names(*world, int) map[string]string { return nil }
func (s *builtIn) mayHave(string) bool                 { return false }
func (s *builtIn) again() bool                         { return true }

// slowDriver has time pass before a transaction, within it, and after it.
type slowDriver struct {
	rig.FullDriver
	s *builtIn
}

// forOne is what reads of the first client meet.
func (d slowDriver) forOne(ctx context.Context, client auth.Client) error {
	switch does := d.s.does.Load(); {
	case does == "fails for all", does == "fails for one" && client.ID == 1:
		return errors.New("the simulation has the administration fail for a client")
	case does == "hangs for one" && client.ID == 1:
		for ctx.Err() == nil && d.s.does.Load() == does {
			sleep(ctx, time.Second)
		}
		return ctx.Err()
	}
	return nil
}

func (d slowDriver) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if err := d.forOne(ctx, q.Client); err != nil {
		return mapping.Record{}, err
	}
	return d.FullDriver.Get(ctx, r, q)
}

func (d slowDriver) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	if err := d.forOne(ctx, q.Client); err != nil {
		return backend.Page{}, err
	}
	return d.FullDriver.List(ctx, r, q)
}

func (d slowDriver) Export(ctx context.Context, client auth.Client, w io.Writer) (backend.Manifest, error) {
	if err := d.forOne(ctx, client); err != nil {
		return backend.Manifest{}, err
	}
	if d.s.does.Load() == "fails" {
		return backend.Manifest{}, errors.New("the simulation has the administration fail")
	}
	return d.FullDriver.Export(ctx, client, w)
}

func (d slowDriver) Write(ctx context.Context, f func(backend.Tx) error) error {
	switch d.s.does.Load() {
	case "fails", "fails for all":
		return errors.New("the simulation has the administration fail")
	case "hangs":
		<-ctx.Done()
		return ctx.Err()
	case "panics":
		panic("panic in a driver of the simulation")
	}
	return d.s.w.slowly(func(f func(backend.Tx) error) error { return d.FullDriver.Write(ctx, f) }, f)
}
