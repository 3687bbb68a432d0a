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
	sqltest.Takes(t, "foreign")
	file := func(name string) string {
		text, err := os.ReadFile(sqltest.Repository(".ci", "foreign", "node_modules", "northwind", name))
		if err != nil {
			sqltest.Missing(t, "foreign", "what .ci/install-foreign installs is not there")
		}
		return string(text)
	}
	schema, data := file("postgres_schema.sql"), file("postgres_data.sql")
	dsn := sqltest.PostgresLike(t, "northwind", func(dsn string) error { return sqltest.Execute(dsn, schema+data) })
	return &System{DSN: dsn, Sheet: filepath.Join(files("northwind"), "northwind.yaml")}
}
