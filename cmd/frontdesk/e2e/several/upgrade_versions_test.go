package several

import (
	"cmp"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// buildProgram builds the program from sources in a folder. What is the same in each
// folder is compiled once.
func buildProgram(t *testing.T, sources string, flags ...string) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "frontdesk")
	build := exec.Command("go", append(append([]string{"build", "-trimpath", "-buildvcs=false", "-o", program}, flags...), "./cmd/frontdesk")...)
	build.Dir = sources
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return program
}

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
	return buildProgram(t, sources)
}

// What the next version brings: a schema change of each kind that the rules of
// docs/upgrading.md allow, and work that this version does not know.
const (
	nextContact = `
  - name: loyalty_number
    type: varchar(20)
    unique: true
    description: Number of the contact's loyalty card.
    since: 2
`
	nextOrder = `
  - name: referrer_id
    type: int4
    reference: contact
    description: Contact who recommended us.
    since: 2
`
	nextResource = `name: loyaltycard
description: A loyalty card.
module: orders
since: 2
fields:
  - name: contact_id
    type: int4
    reference: contact
    required: true
    description: Contact that holds the card.
`
)

// nextProgram builds what the next version may be: these sources with other files
// of the model.
func nextProgram(t *testing.T) string {
	t.Helper()
	dir, replace := t.TempDir(), map[string]string{}
	for name, more := range map[string]string{"contact.yaml": nextContact, "order.yaml": nextOrder, "loyaltycard.yaml": nextResource} {
		file := rig.Repository(t, "mapping", "resources", name)
		text, err := os.ReadFile(file)
		if name != "loyaltycard.yaml" {
			require.NoError(t, err)
		}
		replace[file] = filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(replace[file], append(text, more...), 0o600))
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	require.NoError(t, err)
	file := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(file, overlay, 0o600))
	return buildProgram(t, rig.Repository(t), "-overlay", file)
}
