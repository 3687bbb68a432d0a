package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"frontdesk/config"
)

// TestReloadSurvivesAFault of the program itself, here for want of a loader.
func TestReloadSurvivesAFault(t *testing.T) {
	c := config.Default()
	h := &Desk{config: c, started: c, now: time.Now, log: zap.NewNop(), live: config.NewLive(&snapshot{config: c})}
	k := &reloader{desk: h}
	k.reload(bySignal)
	state := h.reloads.state()
	require.EqualValues(t, 1, state.failures)
	require.ErrorContains(t, state.fault, "panic")
}
