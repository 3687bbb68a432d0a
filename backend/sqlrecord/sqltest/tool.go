package sqltest

import (
	"os"
	"os/exec"
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
