package foreigntest

import (
	"os"
	"path/filepath"
	"testing"

	"frontdesk/backend/sqlrecord/sqltest"
)

// Northwind makes the Northwind that .ci/install-foreign takes from the examples of a Go
// module, on PostgreSQL: a trader in food, of one company, with foreign keys and English
// names. Nobody works in it.
func Northwind(t testing.TB) *System {
	t.Helper()
	file := func(name string) string {
		text, err := os.ReadFile(sqltest.Repository(".ci", "foreign", "node_modules", "northwind", name))
		switch {
		case err != nil && sqltest.Required("foreign"):
			t.Fatal("what .ci/install-foreign installs is missing: ", err)
		case err != nil:
			t.Skip("Northwind is not installed")
		}
		return string(text)
	}
	schema, data := file("postgres_schema.sql"), file("postgres_data.sql")
	dsn := sqltest.PostgresLike(t, "northwind", func(dsn string) error { return sqltest.Execute(dsn, schema+data) })
	return &System{DSN: dsn, Sheet: filepath.Join(files("northwind"), "northwind.yaml")}
}
