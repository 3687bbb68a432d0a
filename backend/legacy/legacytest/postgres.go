package legacytest

import (
	"testing"

	"frontdesk/backend/sqlrecord/sqltest"
)

// Postgres returns the DSN, for pgx, of a new PostgreSQL database with DEALERPAK,
// which is dropped when the test ends. Where PostgreSQL is not installed the test
// is skipped; with FRONTDESK_REQUIRE=postgres in the environment it fails instead.
func Postgres(t testing.TB) string {
	t.Helper()
	return sqltest.PostgresLike(t, "dealerpak", loadPostgres)
}

func loadPostgres(dsn string) error {
	scripts, err := read("postgres/schema.sql", "data.sql", "postgres/programs.sql")
	if err != nil {
		return err
	}
	return sqltest.Execute(dsn, scripts...)
}
