//go:build !unix

package desk

import "os"

// operatorSignals are none here: there is nobody who could send them. Files are
// watched all the same.
func (p Program) operatorSignals() (signals <-chan os.Signal, release func()) {
	return p.Signals, func() {}
}
