//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import (
	"os"
	"syscall"
	"time"
)

// lockWait is how long to wait for another process; replacing a file of a configuration takes milliseconds.
const lockWait = 10 * time.Second

// lock keeps other processes from replacing files of a folder, until it is released. If the folder cannot be
// locked within lockWait, the caller goes on without the lock: otherwise anybody who may read the folder could
// hold it and keep api_keys from being revoked.
func lock(dir string) (release func()) {
	folder, err := os.Open(dir)
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(lockWait); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != syscall.EWOULDBLOCK && err != syscall.EINTR {
			break
		}
	}
	return func() {
		_ = syscall.Flock(int(folder.Fd()), syscall.LOCK_UN) // a process that is being started has a copy of the descriptor
		_ = folder.Close()
	}
}
