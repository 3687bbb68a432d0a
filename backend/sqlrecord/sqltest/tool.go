package sqltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Takes says that a test needs a part of the table in .ci/parts. make test has the first
// five; a test of another is named TestForeign…, and make foreign runs it.
func Takes(t testing.TB, part string) {
	t.Helper()
	if strings.HasPrefix(t.Name(), "Test") && !strings.HasPrefix(t.Name(), "TestForeign") &&
		!slices.Contains([]string{"postgres", "mariadb", "redis", "chromium", "node"}, part) {
		t.Fatalf("make test does not have %s: name this test TestForeign…", part)
	}
}

// Required reports whether the environment demands that a test with this part runs
// and is not skipped if the part is missing: FRONTDESK_REQUIRE lists parts,
// separated by commas.
func Required(t testing.TB, part string) bool {
	t.Helper()
	Takes(t, part)
	return slices.Contains(strings.Split(os.Getenv("FRONTDESK_REQUIRE"), ","), part)
}

// Missing ends a test for want of a part: it is skipped, or fails where the part is
// required.
func Missing(t testing.TB, part string, why any) {
	t.Helper()
	if Required(t, part) {
		t.Fatalf("FRONTDESK_REQUIRE names %s: %v", part, why)
	}
	t.Skipf("there is no %s: %v", part, why)
}

// Tool is the path of a program that a test needs, and that comes with a part. Where
// it is missing the test is skipped, or fails where the part is required.
func Tool(t testing.TB, part, program string) string {
	t.Helper()
	Takes(t, part)
	for _, name := range []string{program, "/usr/sbin/" + program} { // /usr/sbin is not in everybody's PATH
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, part, program+" is not installed")
	return ""
}

// Repository is the path of something in the project's folder, which is above the one
// that a test runs in. The compiler is not asked: with -trimpath it does not know.
func Repository(parts ...string) string {
	root, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(root, "go.mod")); missing == nil {
			return filepath.Join(append([]string{root}, parts...)...)
		}
		if root == filepath.Dir(root) {
			break
		}
		root = filepath.Dir(root)
	}
	panic("a test runs in its package's folder, below go.mod")
}
