// Package legacytest starts real databases that hold DEALERPAK, an administration
// of car dealers as they were made in the 1990s (backend/legacy/testdata/dealerpak),
// for tests of what reads and writes somebody else's tables. It is not for programs.
//
// One server of each kind serves a test binary; every test gets its own database,
// with the whole schema and the same rows:
//
//	func TestMain(m *testing.M) { os.Exit(legacytest.Run(m)) }
//
//	func TestOrders(t *testing.T) {
//		db, err := sql.Open("mysql", legacytest.MariaDB(t))
package legacytest

import (
	"os"
	"path/filepath"
	"testing"

	"frontdesk/backend/sqlrecord/sqltest"
)

// Run runs the tests of a package and stops the servers afterwards.
func Run(m *testing.M) int {
	code := sqltest.Run(m)
	if maria.stop != nil {
		maria.stop()
	}
	return code
}

// Files returns the folder testdata/dealerpak, from wherever the test runs.
func Files() (string, error) {
	dir := sqltest.Repository("backend", "legacy", "testdata", "dealerpak")
	_, err := os.Stat(dir)
	return dir, err
}

// read returns the scripts of an engine in the order of loading.
func read(names ...string) ([]string, error) {
	dir, err := Files()
	if err != nil {
		return nil, err
	}
	var scripts []string
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return nil, err
		}
		scripts = append(scripts, string(text))
	}
	return scripts, nil
}
