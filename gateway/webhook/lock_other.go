//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package webhook

import "os"

// LockFile makes a file if it is missing. On this system it locks nothing: the operator
// must ensure that only one frontdesk uses what the lock protects.
func LockFile(name string) (release func() error, err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}
