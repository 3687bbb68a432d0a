package remote

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/config"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func TestMain(m *testing.M) { os.Exit(sqltest.FindLeaks(sqltest.Run(m))) }

func bg() context.Context { return context.Background() }

// ample is a time-out that no test is to meet, on whatever machine.
const ample = time.Minute

// startAdapter runs the reference adapter, in Python, and returns its address.
func startAdapter(t testing.TB, args ...string) string {
	t.Helper()
	return remotetest.StartAdapter(t, "testdata/adapter/adapter.py", args...)
}

func wholeModel(t testing.TB) *mapping.Model {
	t.Helper()
	m, err := mapping.LoadModel("")
	require.NoError(t, err)
	return m
}

// adapterSheet is what a sheet says that names an adapter and no more.
func adapterSheet(t testing.TB, url string) *sheet.Sheet {
	return &sheet.Sheet{Model: wholeModel(t), Location: time.UTC, Source: sheet.Source{Frontdesk: &sheet.Frontdesk{
		URL: url, Token: config.Secret("adapter-token"), Timeout: ample, Connections: 8, MaxAnswer: 16 << 20,
	}}}
}

func open(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(bg(), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

// openIDStore opens a store for IDs and keys, in memory.
func openIDStore(t testing.TB, ignoreCase ...string) IDStore {
	t.Helper()
	db, err := sqlrecord.OpenSQLite(t.TempDir()+"/keep.db", sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	k, err := idstore.Open(bg(), db, idstore.Options{Now: time.Now, IgnoreCase: ignoreCase})
	require.NoError(t, err)
	return k
}

func front(t testing.TB, s *Store) *backend.Client {
	t.Helper()
	c, err := backend.NewClient(s, s.Sheet.Model, backend.Options{Timeout: ample})
	require.NoError(t, err)
	return c
}

// body reads a request body as the gateway does, and finds nothing wrong with it.
func body(t testing.TB, r *mapping.Resource, text string) *mapping.Body {
	t.Helper()
	b, err := mapping.DecodeBody(r, []byte(text), time.UTC)
	require.NoError(t, err)
	require.Empty(t, b.CheckCreate())
	return b
}

// patch is body for an update.
func patch(t testing.TB, r *mapping.Resource, text string) *mapping.Body {
	t.Helper()
	b, err := mapping.DecodeBody(r, []byte(text), time.UTC)
	require.NoError(t, err)
	require.Empty(t, b.CheckUpdate())
	return b
}

// create creates a record through the client.
func create(t testing.TB, c *backend.Client, who auth.Client, resource, text string) mapping.Record {
	t.Helper()
	rec, err := c.Create(bg(), who, body(t, c.Model().Resource(resource), text), backend.Write{})
	require.NoError(t, err)
	return rec
}

// wording is how the gateway words an error.
func wording(t testing.TB, err error, scopes ...mapping.Scope) string {
	t.Helper()
	v, ok := mapping.AsViolations(err)
	require.True(t, ok, "%v", err)
	row := mapping.NewCatalogue().Lookup(v[0].Reason, scopes...)
	return row.Text(v[0])
}
