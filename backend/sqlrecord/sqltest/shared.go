package sqltest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Shared makes a folder, which must not be there yet, as create does. Of the test binaries
// that testrun runs together only the first has create make one of that name, where testrun
// names a folder for it in FRONTDESK_SHARED; the others copy what was made, which for a
// database server is a tenth of the work.
func Shared(name, folder string, create func(folder string) error) error {
	root := os.Getenv("FRONTDESK_SHARED")
	if root == "" {
		return create(folder)
	}
	ready := filepath.Join(root, name)
	if _, err := os.Stat(ready); err != nil {
		scratch, err := os.MkdirTemp(root, name+"-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(scratch)
		made := filepath.Join(scratch, name)
		if err := create(made); err != nil {
			return err
		}
		if err := os.Rename(made, ready); err != nil { // another one may have been faster
			if _, missing := os.Stat(ready); missing != nil {
				return err
			}
		}
	}
	// By its path, since PATH may have go, make and git alone.
	if out, err := exec.Command("/bin/cp", "-Rp", ready, folder).CombinedOutput(); err != nil {
		return fmt.Errorf("copy %s: %w\n%s", ready, err, out)
	}
	return nil
}
