package legacytest

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	_ "modernc.org/sqlite" // the driver "sqlite"
)

// SQLite returns the path of a new SQLite database with the tables, the view and
// the rows of DEALERPAK, but none of its triggers and procedures.
func SQLite(t testing.TB) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "dealerpak.db")
	file, err := sqliteFile()
	if err == nil {
		err = os.WriteFile(path, file, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// sqliteFile is such a database, which is made once.
var sqliteFile = sync.OnceValues(func() ([]byte, error) {
	dir, err := os.MkdirTemp("", "frontdesk-dealerpak-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "dealerpak.db")
	if err := loadSQLite(path); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})

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
