//go:build unix

package desk

import (
	"os"
	"os/signal"
	"syscall"
)

// operatorSignals are the signals that do not end the program: SIGHUP has the configuration read
// again, SIGUSR1 turns debugging on and off. While a start is under way nobody reads them: so there is
// room for more than anybody sends, and none is lost behind another.
func (p Program) operatorSignals() (signals <-chan os.Signal, release func()) {
	if p.Signals != nil {
		return p.Signals, func() {}
	}
	c := make(chan os.Signal, 64)
	signal.Notify(c, syscall.SIGHUP, syscall.SIGUSR1)
	return c, func() { signal.Stop(c) }
}
