package sqltest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Required tells whether the environment demands that tests with this part run,
// rather than be skipped where it is not to be had: FRONTDESK_REQUIRE lists parts of
// the table in .ci/testrun, separated by commas.
func Required(part string) bool {
	return slices.Contains(strings.Split(os.Getenv("FRONTDESK_REQUIRE"), ","), part)
}

// Tool is the path of a program that a test needs, and that comes with a part. Where
// it is missing the test is skipped, or fails where the part is required.
func Tool(t testing.TB, part, program string) string {
	t.Helper()
	for _, name := range []string{program, "/usr/sbin/" + program} { // which is not in everybody's PATH
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if Required(part) {
		t.Fatalf("FRONTDESK_REQUIRE names %s: %s is not to be found", part, program)
	}
	t.Skipf("%s is not installed", program)
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
