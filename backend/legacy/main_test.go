package legacy

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/idstore"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func TestMain(m *testing.M) { os.Exit(legacytest.Run(m)) }

// fixture is a system behind the driver and the rules.
type fixture struct {
	*Store
	drivertest.Single
	t      testing.TB
	engine string
	dsn    string
	model  *mapping.Model
	front  *backend.Client
}

// one and two are clients of the systems.
var (
	one = auth.Client{ID: 1, Name: "one"}
	two = auth.Client{ID: 2, Name: "two"}
)

func openIDStore(t testing.TB, now func() time.Time, ignoreCase ...string) *idstore.Store {
	t.Helper()
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "keep.db"), sqlrecord.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	k, err := idstore.Open(t.Context(), db, idstore.Options{Now: now, IgnoreCase: ignoreCase})
	require.NoError(t, err)
	return k
}

func load(t testing.TB, file, dsn string) *sheet.Sheet {
	t.Helper()
	model, err := mapping.LoadModel("")
	require.NoError(t, err)
	of, err := sheet.Load(file, model, sheet.Options{
		Env: func(string) (string, bool) { return dsn, true },
		RuleFields: func(rule string) []string {
			fields, _ := backend.RuleFields(rule)
			return fields
		},
	})
	require.NoError(t, err)
	return of
}
