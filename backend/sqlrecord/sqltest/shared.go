package sqltest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// Shared makes a folder, which must not be there yet, as create does. Of the test binaries
// that testrun runs together only the first has create make one of that name, where testrun
// names a folder for it in FRONTDESK_SHARED; the others wait for it and copy what was made,
// which for a database server is a tenth of the work.
func Shared(name, folder string, create func(folder string) error) error {
	root := os.Getenv("FRONTDESK_SHARED")
	if root == "" {
		return create(folder)
	}
	ready := filepath.Join(root, name)
	if err := Once(ready, create); err != nil {
		return err
	}
	// By its path, since PATH may have go, make and git alone.
	if out, err := exec.Command("/bin/cp", "-Rp", ready, folder).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w\n%s", ready, err, out)
	}
	return nil
}

// Once calls create with a temporary path, and moves the result to path, unless path exists. One
// of several processes does so, and the others wait for it.
func Once(path string, create func(path string) error) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	lock, err := os.OpenFile(path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer lock.Close() // releases the lock, as the end of the process does
	for err = syscall.EINTR; errors.Is(err, syscall.EINTR); {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
	}
	if err != nil {
		return fmt.Errorf("lock %s: %w", lock.Name(), err)
	}
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	scratch, err := os.MkdirTemp(folder, filepath.Base(path)+"-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	made := filepath.Join(scratch, filepath.Base(path))
	if err := create(made); err != nil {
		return err
	}
	return os.Rename(made, path)
}
