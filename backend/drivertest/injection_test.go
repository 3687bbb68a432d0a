package drivertest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
)

// askedBy are the tests that ask by hostile texts what stands behind each sheet of a database in
// the tree, by the sheet's file; "" where nothing does. Services are asked for no text of a client.
var askedBy = map[string]string{
	"backend/legacy/testdata/dealerpak/mariadb.yaml":   "backend/legacy TestHostileFilters",
	"backend/legacy/testdata/dealerpak/postgres.yaml":  "backend/legacy TestHostileFilters",
	"backend/legacy/testdata/dealerpak/sqlite.yaml":    "backend/legacy TestHostileFilters",
	"backend/legacy/testdata/kraft/kraft.yaml":         "backend/legacy TestForeignKraft",
	"backend/legacy/testdata/northwind/northwind.yaml": "backend/legacy TestHostileFilters",
	"backend/legacy/testdata/sqlledger/sqlledger.yaml": "backend/legacy TestForeignSQLLedger",
	"backend/legacy/testdata/tryton/tryton.yaml":       "backend/legacy TestForeignTryton",
	"mapping/sheet/testdata/part_tables.yaml":          "",
	"mapping/sheet/testdata/tables.yaml":               "",
}

// TestEverySheetMeetsHostileTexts: a sheet that comes into the tree is asked so too, or it is
// said that it has no system.
func TestEverySheetMeetsHostileTexts(t *testing.T) {
	root, found := sqltest.Repository(), 0
	isSheet := regexp.MustCompile(`(?m)^format: 2\n(.*\n)*source: \{sql:|^format: 2\n(.*\n)*source:\n(  #.*\n)*  sql:`)
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(file, ".yaml") || strings.Contains(file, ".bad.") || strings.Contains(file, "node_modules") {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil || !isSheet.Match(text) {
			return err
		}
		name, err := filepath.Rel(root, file)
		if strings.HasPrefix(filepath.ToSlash(name), "backend/adopt/check/testdata/") { // in front of a few rows, which no client asks for
			return err
		}
		test, named := askedBy[filepath.ToSlash(name)]
		require.True(t, named, "who asks what stands behind %s by hostile texts?", name)
		found++
		if test != "" {
			folder, test, _ := strings.Cut(test, " ")
			require.True(t, declares(t, filepath.Join(root, folder), test), "there is no %s in %s", test, folder)
		}
		return err
	}))
	require.Len(t, askedBy, found, "a sheet is gone")
}

func declares(t *testing.T, folder, test string) bool {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if strings.Contains(string(text), "\nfunc "+test+"(") {
			return true
		}
	}
	return false
}
