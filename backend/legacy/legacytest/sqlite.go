package legacytest

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// SQLite returns the path of a new SQLite database with the tables, the view and
// the rows of DEALERPAK, but none of its triggers and procedures.
func SQLite(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dealerpak.db")
	if err := loadSQLite(path); err != nil {
		t.Fatal(err)
	}
	return path
}

func loadSQLite(path string) error {
	scripts, err := read("sqlite/schema.sql", "data.sql")
	if err != nil {
		return err
	}
	db, err := sql.Open("sqlite", path+"?_pragma=foreign_keys(1)&_pragma=synchronous(off)")
	if err != nil {
		return err
	}
	for _, script := range scripts {
		if _, fault := db.Exec(script); fault != nil {
			err = fault
			break
		}
	}
	return errors.Join(err, db.Close())
}
