package follow_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/follow"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// mistaken is an administration whose changes are told, and that answers whatever it is asked
// for with a record of client 2. Its transactions are itself.
type mistaken struct {
	backend.Driver
	backend.Tx
	follow.Teller
}

func (m *mistaken) Capabilities() backend.Capabilities { return backend.Capabilities{} }

func (m *mistaken) Get(_ context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	rec := mapping.NewRecord(r)
	rec.Set("id", mapping.IntValue(int64(q.ID)))
	rec.Owner = 2
	return rec, nil
}

func (m *mistaken) List(context.Context, *mapping.Resource, backend.Query) (backend.Page, error) {
	return backend.Page{}, nil
}

// Create would have stored it.
func (m *mistaken) Create(_ context.Context, _ auth.Client, rec mapping.Record) (mapping.Record, error) {
	return rec, backend.ErrBusy
}

func (m *mistaken) Write(ctx context.Context, do func(backend.Tx) error) error {
	return m.Telling(ctx, do, func(f func(backend.Tx) error) error { return f(m) })
}

// TestReferenceToAnother: what a record refers to is believed no more where changes are told than
// elsewhere.
func TestReferenceToAnother(t *testing.T) {
	text, err := os.ReadFile("../remote/testdata/pocketbase.yaml")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "sheet.yaml")
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(text), "\nclient: org\n", "\nclient: org\nchanges: {by: scan}\n", 1)), 0o600))
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	sh, err := sheet.Load(path, model, sheet.Options{Env: func(string) (string, bool) { return "http://127.0.0.1:1", true }})
	require.NoError(t, err)
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "follow.db"), sqlrecord.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	m := &mistaken{}
	f, err := follow.Open(t.Context(), follow.Options{Reader: m, DB: db, Sheet: sh})
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	m.TellBy(f)
	c, err := backend.NewClient(m, sh.Model, backend.Options{Timeout: time.Minute})
	require.NoError(t, err)
	body, err := mapping.DecodeBody(sh.Model.Resource("article"), []byte(`{"turnover_group_id":7}`), time.UTC)
	require.NoError(t, err)
	_, err = c.Create(t.Context(), auth.Client{ID: 1}, body, backend.Write{})
	require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)
}
