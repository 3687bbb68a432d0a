//go:build unix

package desk

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSignalsWaitForTheStart: none is lost behind one of another kind.
func TestSignalsWaitForTheStart(t *testing.T) {
	signals, release := Program{}.operatorSignals()
	defer release()
	var got []os.Signal
	for range 3 {
		require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGUSR1))
	}
	require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
	for len(got) == 0 || got[len(got)-1] != syscall.SIGHUP {
		got = append(got, <-signals)
	}
}
