package main

import (
	"encoding/json"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// TestKilledIsTold: who looks after a kill does not read that all works. A stop is none.
func TestKilledIsTold(t *testing.T) {
	t.Parallel()
	o := rig.Options{DSN: rig.Engines[0].DSN(t)}
	d := rig.StartChild(t, o)
	health := func() (now desk.Health) {
		t.Helper()
		require.NoError(t, json.Unmarshal(d.AskOps("/readyz").Body, &now))
		return now
	}
	require.Empty(t, health().LookAt, "the first start of all")
	require.NoError(t, d.Process.Process.Signal(syscall.SIGTERM))
	<-d.Ended
	d = rig.StartChild(t, o)
	require.Empty(t, health().LookAt)
	for range 2 {
		d.Kill()
		d = rig.StartChild(t, o)
	}
	ready := health()
	require.Equal(t, desk.HealthOK, ready.Status)
	require.Len(t, ready.LookAt, 1)
	require.Regexp(t, `^2 time\(s\) in the last hour this gateway ended without being stopped: it was killed, or crashed; it was started again, the last time at .*Z$`, ready.LookAt[0])
	require.Contains(t, d.OpsText("/"), "It works. Look at this: 2 time(s) in the last hour")
}
