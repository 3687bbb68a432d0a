package several

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// previousProgram builds the commit before this one, or the one that
// FRONTDESK_PREVIOUS names. Where there is none, as in a shallow clone, this version
// stands for it, and the test still goes on to the next one and back.
func previousProgram(t *testing.T) string {
	t.Helper()
	named := os.Getenv("FRONTDESK_PREVIOUS")
	commit := cmp.Or(named, "HEAD~1")
	index := filepath.Join(t.TempDir(), "index") // the repository's own stays as it is
	git := func(args ...string) ([]byte, error) {
		command := exec.Command("git", append([]string{"-C", rig.Repository(t)}, args...)...)
		command.Env = append(os.Environ(), "GIT_INDEX_FILE="+index)
		return command.CombinedOutput()
	}
	if out, err := git("rev-parse", "--verify", commit+"^{commit}"); err != nil {
		require.Empty(t, named, "FRONTDESK_PREVIOUS names no commit: %s", out)
		t.Logf("%s is not here, so that this version stands for the one before: a shallow clone, or none (%s)", commit, strings.TrimSpace(string(out)))
		return rig.Binary(t)
	}
	sources := t.TempDir()
	out, err := git("read-tree", commit)
	require.NoError(t, err, "%s", out)
	out, err = git("checkout-index", "--all", "--prefix="+sources+"/")
	require.NoError(t, err, "%s", out)
	program := filepath.Join(t.TempDir(), "frontdesk")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", program, "./cmd/frontdesk") // what differs is compiled
	build.Dir, build.Env = sources, append(os.Environ(), "CGO_ENABLED=0")
	out, err = build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}
