package remote

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func TestMain(m *testing.M) { os.Exit(sqltest.FindLeaks(sqltest.Run(m))) }

func bg() context.Context { return context.Background() }

// ample is a time-out that no test is to meet, on whatever machine.
const ample = time.Minute

func wholeModel(t testing.TB) *mapping.Model {
	t.Helper()
	return must.Have(mapping.LoadModel(""))(t)
}

var anna = auth.Client{ID: 1, Name: "Garage Anna"}

// plainSheet is the sheet of a service whose fields are all named as the interface names them;
// headers are those of its source.
func plainSheet(t testing.TB, url, headers string) *sheet.Sheet {
	t.Helper()
	fields := []string{}
	for _, f := range strings.Fields("number contact_id vehicle_id employee_id kind order_status order_date delivery_date mileage reference " +
		"description invoice_number total_excl total_incl is_blocked is_archived created_at modified_at") {
		fields = append(fields, f+": "+f)
	}
	file := t.TempDir() + "/plain.yaml"
	require.NoError(t, os.WriteFile(file, []byte(`format: 2
source: {http: {url: "${GARAGE_URL}", connections: 8, max_answer: 1MiB, headers: {`+headers+`}}}
rules: backend
accounts: {verify: {path: /login}, result: {client_id: client}}
resources:
  contact: {path: /contact, key: id, version: _version, operations: {only: [get]}, fields: {kind: kind, name: name}}
  order: {path: /order, key: id, version: _version, operations: {only: [get, create]}, fields: {`+strings.Join(fields, ", ")+`}}
`), 0o600))
	return loadSheetFile(t, file, url)
}

// open opens the service of a sheet, with a copy in a file of its own.
func open(t testing.TB, o Options) *Driver {
	t.Helper()
	if o.DB == nil {
		o.DB = keepDB(t, "")
	}
	o.Model, o.Timeout = wholeModel(t), ample
	d := must.Have(OpenDriver(bg(), o))(t)
	t.Cleanup(func() { _ = d.Close() }) // which some tests have done
	return d
}

// openIDStore opens a store for IDs and keys, in memory.
func openIDStore(t testing.TB, ignoreCase ...string) IDStore {
	t.Helper()
	db := must.Have(sqlrecord.OpenSQLite(t.TempDir()+"/keep.db", sqlrecord.Options{}))(t)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return must.Have(idstore.Open(bg(), db, idstore.Options{Now: time.Now, IgnoreCase: ignoreCase}))(t)
}

func front(t testing.TB, s *Driver) *backend.Client {
	t.Helper()
	return must.Have(backend.NewClient(s, s.Sheet.Model, backend.Options{Timeout: ample}))(t)
}

// patient is a client whose circuit stays closed.
func patient(t testing.TB, d *Driver) *backend.Client {
	t.Helper()
	return must.Have(backend.NewClient(d, d.Sheet.Model, backend.Options{Timeout: ample, CircuitFailures: 1000}))(t)
}

// body reads a request body as the gateway does, and finds nothing wrong with it.
func body(t testing.TB, r *mapping.Resource, text string) *mapping.Body {
	t.Helper()
	b := must.Have(mapping.DecodeBody(r, []byte(text), time.UTC))(t)
	require.Empty(t, b.CheckCreate())
	return b
}

// patch is body for an update.
func patch(t testing.TB, r *mapping.Resource, text string) *mapping.Body {
	t.Helper()
	b := must.Have(mapping.DecodeBody(r, []byte(text), time.UTC))(t)
	require.Empty(t, b.CheckUpdate())
	return b
}

// create creates a record through the client.
func create(t testing.TB, c *backend.Client, who auth.Client, resource, text string) mapping.Record {
	t.Helper()
	return must.Have(c.Create(bg(), who, body(t, c.Model().Resource(resource), text), backend.Write{}))(t)
}

// wording is how the gateway words an error.
func wording(t testing.TB, err error, scopes ...mapping.Scope) string {
	t.Helper()
	v, ok := mapping.AsViolations(err)
	require.True(t, ok, "%v", err)
	row := mapping.NewCatalogue().Lookup(v[0].Reason, scopes...)
	return row.Text(v[0])
}

// jsonOf is what a service answers as JSON.
func jsonOf(t testing.TB, v any) sheet.JSON {
	t.Helper()
	return must.Have(sheet.JSONOf(v))(t)
}
