//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package atomicfile

import (
	"os"
	"syscall"
	"time"
)

// lockWait is how long others may take: a file of a configuration is replaced in milliseconds.
const lockWait = 10 * time.Second

// lock keeps others out who replace files of a folder, until it is released. A folder that cannot
// be locked, and one that somebody holds, is gone on with: whoever may read it could else keep
// api_keys from being revoked.
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
