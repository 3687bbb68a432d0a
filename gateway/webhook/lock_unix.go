//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package webhook

import (
	"errors"
	"os"
	"syscall"
)

// LockFile makes a file where it is missing and locks it until it is released, which
// the end of the process does too. ErrLocked where it is locked.
func LockFile(name string) (release func() error, err error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	// Closing the file is not enough: a child process that is being started has a copy of
	// the descriptor, and with it the lock, until its exec.
	release = func() error { return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close()) }
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = ErrLocked
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return release, nil
}
