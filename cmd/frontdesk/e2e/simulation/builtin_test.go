package simulation

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

func TestBuiltIn(t *testing.T) {
	seeds(t, func() system { return &builtIn{} })
}

// builtIn is the built-in administration on SQLite, whose writes take a while, and which fails.
type builtIn struct {
	does atomic.Value // string
	wait func() time.Duration
}

func (s *builtIn) begin(w *world) {
	s.does.Store("")
	s.wait = w.net.delay
	data, err := rig.SampleFile()
	require.NoError(w.t, err)
	require.NoError(w.t, os.WriteFile(filepath.Join(w.folder(), desk.DatabaseFile), data, 0o600))
}

func (s *builtIn) config(folder string) string {
	return fmt.Sprintf("dsn: %q", "sqlite:"+filepath.Join(folder, desk.DatabaseFile))
}

func (s *builtIn) wrap(*world) desk.WrapDriver {
	return func(d backend.Driver) backend.Driver { return slowDriver{d.(rig.FullDriver), s} }
}

func (s *builtIn) troubles(*world) (all []trouble) {
	for _, does := range []string{"fails", "hangs", "panics"} {
		all = append(all, trouble{name: "the administration " + does, begin: func() { s.does.Store(does) }, end: func() { s.does.Store("") }})
	}
	return all
}

func (s *builtIn) behind(*world, *rand.Rand)      {}
func (s *builtIn) names(*world) map[string]string { return nil }
func (s *builtIn) again() bool                    { return true }

// slowDriver has time pass before a transaction, within it, and after it.
type slowDriver struct {
	rig.FullDriver
	s *builtIn
}

func (d slowDriver) Write(ctx context.Context, f func(backend.Tx) error) error {
	switch d.s.does.Load() {
	case "fails":
		return errors.New("the simulation has the administration fail")
	case "hangs":
		<-ctx.Done()
		return ctx.Err()
	case "panics":
		panic("panic in a driver of the simulation")
	}
	time.Sleep(d.s.wait())
	err := d.FullDriver.Write(ctx, func(tx backend.Tx) error {
		err := f(tx)
		time.Sleep(d.s.wait())
		return err
	})
	time.Sleep(d.s.wait())
	return err
}
