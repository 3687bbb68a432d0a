// Package mends undoes mends of this history one by one, and has the days of package simulation find them.
package mends

import (
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
)

// enoughMends is how many of the mends in testdata have to be found where they are undone. Each is a patch that
// undoes one; its first line names the commit, its second one the tests whose days it is of. When they were measured
// 35 were found: which of two goroutines goes first is not drawn by a seed.
const enoughMends = 30

// TestMendsApply wants each of them to fit the program as it is: it applies, and what it changes compiles.
func TestMendsApply(t *testing.T) {
	for _, patch := range mends(t, "*") {
		file, packages := overlay(t, patch, t.TempDir())
		out, err := exec.Command("go", append([]string{"build", "-overlay", file}, packages...)...).CombinedOutput()
		require.NoError(t, err, "%s does not compile any more: %s", patch, out)
	}
}

func mends(t *testing.T, pattern string) []string {
	all, err := filepath.Glob(filepath.Join("testdata", pattern+"-*.patch"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	return all
}

// TestForeignMends undoes mends of this history one by one, and reports whether a day without it breaks a
// promise. It compiles the program anew for each, and belongs to the soak. FRONTDESK_MENDS=17 names one, or
// several by a pattern of filepath.Match.
func TestForeignMends(t *testing.T) {
	pattern := os.Getenv("FRONTDESK_MENDS")
	if pattern == "" && !sqltest.Soak() {
		t.Skip("it compiles the program for each: make soak runs it, or FRONTDESK_MENDS names some")
	}
	if pattern == "" {
		pattern = "*"
	}
	all, found := mends(t, pattern), 0
	for _, patch := range all {
		by := foundBy(t, patch)
		if by != "" {
			found++
		}
		t.Logf("%s: %s", filepath.Base(patch), by)
	}
	if pattern == "*" {
		require.GreaterOrEqual(t, found, enoughMends)
	}
}

// foundBy undoes a mend, and returns the first promise that is broken without it; "" for none.
func foundBy(t *testing.T, patch string) string {
	folder := t.TempDir()
	program := filepath.Join(folder, "simulation.test")
	replaced, _ := overlay(t, patch, folder)
	build := exec.Command("go", "test", "-c", "-vet=off", "-overlay", replaced, "-o", program, "frontdesk/cmd/frontdesk/e2e/simulation")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s: %s", patch, out)
	text, err := os.ReadFile(patch)
	require.NoError(t, err)
	days := regexp.MustCompile(`(?m)^Days: (\S+)$`).FindSubmatch(text)
	require.NotNil(t, days, patch)
	for _, seeds := range []string{"0", "1", "2", "3"} {
		run := exec.Command(program, "-test.run", "^"+string(days[1])+"$", "-test.failfast")
		run.Dir, run.Env = "..", append(os.Environ(), "FRONTDESK_SEEDS="+seeds)
		if out, err := run.CombinedOutput(); err != nil {
			return firstBroken(string(out))
		}
	}
	return ""
}

var broken = regexp.MustCompile(`(FRONTDESK_SEEDS=\d+, \S+\n.*)`)

func firstBroken(out string) string {
	if told := broken.FindString(out); told != "" {
		return strings.Join(strings.Fields(told), " ")
	}
	return strings.TrimSpace(out[:min(len(out), 300)])
}

// overlay writes the files that a patch changes, and which they replace, as go build takes it. It returns
// the packages of them, too.
func overlay(t *testing.T, patch, folder string) (file string, packages []string) {
	root := sqltest.Repository()
	text, err := os.ReadFile(patch)
	require.NoError(t, err)
	replace := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)$`).FindAllStringSubmatch(string(text), -1) {
		data, err := os.ReadFile(filepath.Join(root, line[1]))
		require.NoError(t, err)
		changed := filepath.Join(folder, line[1])
		require.NoError(t, os.MkdirAll(filepath.Dir(changed), 0o700))
		require.NoError(t, os.WriteFile(changed, data, 0o600))
		replace[filepath.Join(root, line[1])] = changed
		packages = append(packages, "frontdesk/"+path.Dir(line[1]))
	}
	apply := exec.Command("git", "-C", folder, "apply")
	apply.Stdin = strings.NewReader(string(text))
	out, err := apply.CombinedOutput()
	require.NoError(t, err, "%s does not fit any more: %s", patch, out)
	data, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	file = filepath.Join(folder, "overlay.json")
	require.NoError(t, os.WriteFile(file, data, 0o600))
	return file, packages
}
