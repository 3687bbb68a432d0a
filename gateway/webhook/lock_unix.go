//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package webhook

import (
	"errors"
	"os"
	"syscall"
)

// LockFile makes a file where it is missing and locks it until it is closed,
// which the end of the process does too. ErrLocked where it is locked.
func LockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}
