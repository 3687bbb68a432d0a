//go:build unix

package desk

import (
	"os"
	"os/signal"
	"syscall"
)

// operatorSignals are the signals that do not end the program: SIGHUP has the configuration read
// again, SIGUSR1 turns debugging on and off. They wait for a start to end, one kind beside the other.
func (p Program) operatorSignals() (signals <-chan os.Signal, release func()) {
	if p.Signals != nil {
		return p.Signals, func() {}
	}
	c := make(chan os.Signal, 64)
	signal.Notify(c, syscall.SIGHUP, syscall.SIGUSR1)
	return c, func() { signal.Stop(c) }
}
