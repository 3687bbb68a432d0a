package several

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestVersion asks deploy/version in trees of every kind.
func TestVersion(t *testing.T) {
	script := rig.Read(t, rig.Repository(t, "deploy", "version"))
	root := filepath.Join(t.TempDir(), "tree")
	var environment []string
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "GIT_") && !strings.HasPrefix(variable, "FRONTDESK_") {
			environment = append(environment, variable)
		}
	}
	environment = append(environment, "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@localhost", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@localhost",
		"GIT_AUTHOR_DATE=2026-12-01T00:30:00+0200", "GIT_COMMITTER_DATE=2026-12-01T00:30:00+0200")
	in := func(folder, program string, args ...string) string {
		command := exec.Command(program, args...)
		command.Dir, command.Env = folder, environment
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return strings.TrimSpace(string(out))
	}
	git := func(args ...string) string { return in(root, "git", args...) }
	write := func(folder, name, content string) {
		name = filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(content), 0o755))
	}
	said := func(folder string) string { return in(folder, filepath.Join(folder, "deploy", "version")) }

	write(root, "deploy/version", script)
	require.Equal(t, "v0.0.0-unknown", said(root))

	git("init", "-q")
	git("add", "-A")
	git("commit", "-qm", "One")
	commit := git("rev-parse", "HEAD")
	about := " " + commit + " 2026-11-30T22:30:00Z"
	require.Equal(t, "v0.0.0-20261130-g"+commit[:12]+about, said(root))
	git("tag", "nightly")
	write(root, "deploy/version", script+"# changed\n")
	require.Equal(t, "v0.0.0-20261130-g"+commit[:12]+"-dirty"+about, said(root))
	git("checkout", "-q", ".")

	git("tag", "v2.0.0")
	require.Equal(t, "v2.0.0"+about, said(root))
	worktree := filepath.Join(t.TempDir(), "worktree")
	git("worktree", "add", "-q", "--detach", worktree)
	require.Equal(t, "v2.0.0"+about, said(worktree))
	write(worktree, "deploy/version", script+"# changed\n")
	require.Equal(t, "v2.0.0-dirty"+about, said(worktree))
	git("commit", "-q", "--allow-empty", "-m", "Two")
	commit = git("rev-parse", "HEAD")
	require.Equal(t, "v2.0.0-1-g"+commit[:12]+" "+commit+" 2026-11-30T22:30:00Z", said(root))

	write(root, "inside/deploy/version", script)
	require.Equal(t, "v0.0.0-unknown", said(filepath.Join(root, "inside")), "the repository around it is of something else")
	environment = append(environment, "FRONTDESK_VERSION=v1.2.0 abc 2026-12-01T00:00:00Z")
	require.Equal(t, "v1.2.0 abc 2026-12-01T00:00:00Z", said(root))
}
