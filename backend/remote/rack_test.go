package remote

import (
	"errors"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// copiedFrom opens a Driver in front of a rack.
func copiedFrom(t testing.TB, s *remotetest.Rack, since string, engine ...string) *Driver {
	t.Helper()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return openDriver(t, strings.Replace(remotetest.RackSheet, "SINCE", since, 1), server.URL, strings.Join(engine, ""))
}

// keepDB is a database for a copy.
func keepDB(t testing.TB, engine string) (db sqlrecord.DB) {
	t.Helper()
	var err error
	if engine == "postgres" {
		db, err = sqlrecord.OpenPostgres(bg(), sqltest.Postgres(t), sqlrecord.Options{})
	} else {
		db, err = sqlrecord.OpenSQLite(t.TempDir()+"/keep.db", sqlrecord.Options{})
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func openDriver(t testing.TB, text, url, engine string, change ...func(*Options)) *Driver {
	t.Helper()
	return openOn(t, text, url, keepDB(t, engine), change...)
}

func openOn(t testing.TB, text, url string, db sqlrecord.DB, change ...func(*Options)) *Driver {
	t.Helper()
	model := wholeModel(t)
	file := t.TempDir() + "/sheet.yaml"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	sh := must.Have(sheet.Load(file, model, sheet.Options{Env: func(string) (string, bool) { return url, true }}))(t)
	k := must.Have(idstore.Open(bg(), db, idstore.Options{Now: time.Now, IgnoreCase: sh.KeysWithoutCase()}))(t)
	o := Options{Sheet: sh, IDStore: k, DB: db, Model: model, KeepChanges: time.Hour, Timeout: ample, Now: time.Now}
	for _, f := range change {
		f(&o)
	}
	d := must.Have(OpenDriver(bg(), o))(t)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

var north, south = auth.Client{ID: 1, Name: "Noord"}, auth.Client{ID: 2, Name: "Zuid"}

// names lists a field of the contacts that a client sees, and how old the list is.
func listed(t testing.TB, d *Driver, who auth.Client, resource, field string, change ...func(*backend.Query)) ([]string, *backend.Copy) {
	t.Helper()
	r := d.Sheet.Model.Resource(resource)
	q := backend.Query{Client: who, Limit: 1000, Copy: &backend.Copy{}}
	for _, f := range change {
		f(&q)
	}
	page := must.Have(d.List(bg(), r, q))(t)
	all := []string{}
	for _, rec := range page.Records {
		require.NoError(t, backend.Believe(r, rec, who, 0))
		all = append(all, rec.Get(field).String())
	}
	return all, q.Copy
}

func fromService(q *backend.Query) { q.Copy.Fresh = true }

// idOf is the ID of the contact of a name.
func idOf(t testing.TB, d *Driver, who auth.Client, name string) int32 {
	t.Helper()
	r := d.Sheet.Model.Resource("contact")
	page, err := d.List(bg(), r, backend.Query{Client: who, Limit: 1000, Filters: []backend.Filter{{Field: r.Field("name"), Value: mapping.TextValue(name)}}})
	require.NoError(t, err)
	require.Len(t, page.Records, 1)
	return page.Records[0].ID()
}

// walkNow walks, after the walk that may be under way, for all that want one by now.
func walkNow(d *Driver, p *walked) (err error) {
	for err = errOthers; errors.Is(err, errOthers); {
		err = flown(bg(), d.copy.fly(&p.walks))
	}
	return err
}

func writer(t testing.TB, d *Driver) *backend.Client {
	t.Helper()
	return must.Have(backend.NewClient(d, d.Sheet.Model, backend.Options{Timeout: ample}))(t)
}
