package desk

import (
	"crypto/x509"
	"maps"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/instrument"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// TestDrivers holds what a configuration can name to the drivers that there are.
func TestDrivers(t *testing.T) {
	named, _ := reflect.TypeFor[config.Backend]().FieldByName("Driver")
	require.ElementsMatch(t, strictyaml.Constraints(named.Tag.Get("schema"))[0].Words(), slices.Collect(maps.Keys(drivers())))
	for name, d := range drivers() {
		require.Equal(t, config.Backend{Driver: name}.BySheet(), d.judge != nil, "%s: a mapping sheet, and what judges it", name)
	}
}

// TestCertificateEndsSoon: two weeks ahead, and later of those that live for days: they are renewed
// often, and all is well until they ought to have been.
func TestCertificateEndsSoon(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		life, left time.Duration
		want       bool
	}{{365 * day, 15 * day, false}, {365 * day, 14 * day, true}, {90 * day, 22 * day, false}, {45 * day, 12 * day, false}, {45 * day, 11 * day, true}, {6 * day, 2 * day, false}, {6 * day, day, true}} {
		leaf := &x509.Certificate{NotBefore: now.Add(c.left - c.life), NotAfter: now.Add(c.left)}
		require.Equal(t, c.want, CertificateEndsSoon(leaf, now), "%v of %v left", c.left, c.life)
	}
}

// TestSpareRoomIsWhole: of spare room that a crash left unfinished, or that was taken in
// part, the rest is made again, and what is there is left alone.
func TestSpareRoomIsWhole(t *testing.T) {
	s := spareOf(t.TempDir() + "/records.db")
	require.NoError(t, os.WriteFile(string(s), []byte("begun"), 0o600))
	require.NoError(t, s.keep())
	first, err := os.ReadFile(string(s))
	require.NoError(t, err)
	require.Len(t, first, spareSize)
	require.NoError(t, s.keep())
	again, err := os.ReadFile(string(s))
	require.NoError(t, err)
	require.Equal(t, first, again)

	require.True(t, s.release())
	require.NoError(t, s.keep())
	again, err = os.ReadFile(string(s))
	require.NoError(t, err)
	require.Len(t, again, spareSize)
	require.Equal(t, first[:spareSize-sparePart], again[:spareSize-sparePart])
	for range spareSize / sparePart {
		require.True(t, s.release())
	}
	require.NoFileExists(t, string(s))
	require.False(t, s.release())
}

// TestReloadSurvivesAFault of the program itself, here for want of a loader.
func TestReloadSurvivesAFault(t *testing.T) {
	c := config.Default()
	h := &Desk{
		basis:  &basis{now: time.Now, log: zap.NewNop()},
		config: c, started: c, live: new(atomic.Pointer[snapshot]), past: &past{Instrument: instrument.New(time.Now)},
	}
	h.live.Store(&snapshot{config: c})
	k := &reloader{desk: h}
	k.reload(bySignal)
	state := h.reloads.state()
	require.EqualValues(t, 1, state.failures)
	require.ErrorContains(t, state.fault, "a fault of the program")
}

// TestStampOverGo: what deploy/build says of a tree stands over what Go recorded, which
// stands where the program was built otherwise.
func TestStampOverGo(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261123064054-426e58c6d1f0+dirty"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "426e"}, {Key: "vcs.time", Value: "2026-11-23T06:40:54Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	for built, want := range map[string]BuildFacts{
		"":                                    {Version: "v0.0.0-20261123064054-426e58c6d1f0+dirty", Commit: "426e", Time: "2026-11-23T06:40:54Z", Modified: true},
		"v2.0.0 abcd 2026-12-01T00:00:00Z":    {Version: "v2.0.0", Commit: "abcd", Time: "2026-12-01T00:00:00Z"},
		"v2.0.0-dirty abcd 2026-12-01T00:00Z": {Version: "v2.0.0-dirty", Commit: "abcd", Time: "2026-12-01T00:00Z", Modified: true},
	} {
		var facts BuildFacts
		facts.record(info)
		facts.stamp(built)
		require.Equal(t, want, facts, built)
	}
	facts := BuildFacts{Version: "dev"}
	facts.record(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}})
	require.Equal(t, BuildFacts{Version: "dev"}, facts)
	facts.stamp("v0.0.0-unknown")
	require.Equal(t, BuildFacts{Version: "v0.0.0-unknown"}, facts)
}
