package desk

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/instrument"
	"frontdesk/config"
)

// TestReloadSurvivesAFault of the program itself, here for want of a loader.
func TestReloadSurvivesAFault(t *testing.T) {
	c := config.Default()
	h := &Desk{
		basis:  &basis{now: time.Now, log: zap.NewNop()},
		config: c, started: c, live: new(atomic.Pointer[snapshot]), past: &past{Instrument: instrument.New(time.Now)},
	}
	h.live.Store(&snapshot{config: c})
	k := &reloader{desk: h}
	k.reload(bySignal)
	state := h.reloads.state()
	require.EqualValues(t, 1, state.failures)
	require.ErrorContains(t, state.fault, "a fault of the program")
}
