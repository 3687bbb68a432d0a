package desk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"
)

func TestWays(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	require.NoError(t, os.MkdirAll(at("etc", "..1", "keys.d"), 0o700))
	for link, target := range map[string]string{
		at("etc", "..data"):         "..1",
		at("etc", "frontdesk.yaml"): filepath.Join("..data", "frontdesk.yaml"),
		at("here"):                  at("etc"),
		at("circle"):                "circle",
	} {
		require.NoError(t, os.Symlink(target, link))
	}
	for file, way := range map[string][]string{
		at("etc", "plain.yaml"):     {at("etc", "plain.yaml")},
		at("etc", "frontdesk.yaml"): {at("etc", "frontdesk.yaml"), at("etc", "..data"), at("etc", "..1", "frontdesk.yaml")},
		at("here", "plain.yaml"):    {at("here"), at("etc", "plain.yaml")},
		at("gone", "gone.yaml"):     {at("gone", "gone.yaml")},
	} {
		require.Equal(t, way, ways{}.to(file))
	}
	require.NotEmpty(t, ways{}.to(at("circle")), "which ends")
}

func TestInterest(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	require.NoError(t, os.MkdirAll(at("etc", "keys.d"), 0o700))
	of, wanted := interestIn([]string{at("etc", "frontdesk.yaml"), at("tls", "cert.pem")}, []string{at("etc"), at("etc", "keys.d"), at("late", "keys.d")})
	for _, counts := range []fsnotify.Event{
		{Name: at("etc", "frontdesk.yaml"), Op: fsnotify.Create}, {Name: at("tls", "cert.pem"), Op: fsnotify.Write},
		{Name: at("etc", "keys.d", "any"), Op: fsnotify.Remove}, {Name: at("etc", "new.yaml"), Op: fsnotify.Create},
		{Name: at("etc", "keys.d"), Op: fsnotify.Rename}, {Name: at("etc"), Op: fsnotify.Create}, {Name: at("late"), Op: fsnotify.Create},
		{Name: "/" + at("late"), Op: fsnotify.Create},
	} {
		require.True(t, of.counts(counts), counts)
	}
	for _, does := range []fsnotify.Event{
		{Name: at("etc", "frontdesk.db-wal"), Op: fsnotify.Write}, {Name: at("tls", "cert.pem"), Op: fsnotify.Chmod},
		{Name: at("tls", "other.pem"), Op: fsnotify.Write}, {Name: at("new.yaml"), Op: fsnotify.Create}, {},
	} {
		require.False(t, of.counts(does), does)
	}
	require.Equal(t, map[string]bool{at("etc"): true, at("etc", "keys.d"): true, at("tls"): true, dir: true}, wanted)
}
