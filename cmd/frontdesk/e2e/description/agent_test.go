package description

import (
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestForeignAgent has a client of the protocol that nobody here wrote do fifty tasks with nothing but
// what tools tell it: find, correct, order, resolve a 412, keep a copy.
func TestForeignAgent(t *testing.T) {
	t.Parallel()
	node, folder := foreign(t)
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	command := exec.Command(node, filepath.Join(folder, "agent.mjs"), d.Base, d.Login(rig.FullKey, "demo"), d.Login(rig.FullKey, "demo"))
	out, err := command.Output()
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		t.Fatalf("%s", failed.Stderr)
	}
	require.NoError(t, err)
	few, most, kinds := 0, 0, map[string]int{}
	for _, task := range must.JSON[[]struct {
		Kind, Why string
		Calls     int
		Done      bool
	}](t, out) {
		require.True(t, task.Done, "%+v", task)
		if kinds[task.Kind]++; task.Calls <= 8 {
			few++
		}
		most = max(most, task.Calls)
	}
	t.Log(kinds, "within 8 calls:", few, "most:", most)
	require.Equal(t, map[string]int{"find": 10, "correct": 10, "order": 10, "conflict": 10, "copy": 10}, kinds)
	require.GreaterOrEqual(t, few, 45)
}
