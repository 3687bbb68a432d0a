package follow_test

import (
	"context"
	"path/filepath"
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
	follow.Journal
	follow.Source
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
	return m.WriteNoted(ctx, do, func(f func(backend.Tx) error) error { return f(m) })
}

const tables = `
format: 2
source: {sql: {engine: sqlite, dsn: none.db}}
client: org
changes: {by: scan}
rules: backend
accounts: {users: []}
resources:
  turnovergroup: {table: g, key: {columns: id}, operations: {only: [get, list]}, fields: {code: code}}
  article:
    table: a
    key: {columns: id}
    fields: {turnover_group_id: grp, description: {absent: true}, article_kind: {constant: part}, unit_type: {constant: piece}, price: {absent: true}, number: {absent: true}}
`

// TestReferenceToAnother: what a record refers to is believed no more where changes are told than
// elsewhere.
func TestReferenceToAnother(t *testing.T) {
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	sh, err := sheet.Parse("sheet.yaml", []byte(tables), model, sheet.Options{})
	require.NoError(t, err)
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "follow.db"), sqlrecord.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	m := &mistaken{}
	f, err := follow.Open(t.Context(), follow.Options{Reader: m, DB: db, Sheet: sh})
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	m.SetFollower(f)
	c, err := backend.NewClient(m, sh.Model, backend.Options{Timeout: time.Minute})
	require.NoError(t, err)
	body, err := mapping.DecodeBody(sh.Model.Resource("article"), []byte(`{"turnover_group_id":7}`), time.UTC)
	require.NoError(t, err)
	_, err = c.Create(t.Context(), auth.Client{ID: 1}, body, backend.Write{})
	require.True(t, mapping.Is(err, mapping.InternalError), "%v", err)
}
