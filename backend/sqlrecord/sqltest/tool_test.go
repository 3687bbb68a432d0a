package sqltest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// starts is how code starts a program that it names.
var starts = regexp.MustCompile(`\bexec\.(?:Command\(|LookPath\(|CommandContext\([^,]+, )"([^"]+)"`)

// TestProgramsAreOfAPart: a test starts a program that a machine may not have by its part,
// which Tool finds, so that it is skipped there.
func TestProgramsAreOfAPart(t *testing.T) {
	always, seen := []string{"sh", "/bin/sh", "/bin/cp", "go", "git"}, 0
	require.NoError(t, filepath.WalkDir(Repository(), func(file string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && d.Name() == "node_modules" {
			return filepath.SkipDir
		}
		if err != nil || filepath.Ext(file) != ".go" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(text), `"testing"`) || strings.HasSuffix(file, "redistest/redis.go") || strings.HasSuffix(file, "sqltest/postgres.go") {
			return err // these two know where their servers are
		}
		for _, start := range starts.FindAllStringSubmatch(string(text), -1) {
			seen++
			if !slices.Contains(always, start[1]) {
				t.Errorf("%s starts %s, which may be missing: sqltest.Tool finds it", file, start[1])
			}
		}
		return nil
	}))
	require.NotZero(t, seen)
}
