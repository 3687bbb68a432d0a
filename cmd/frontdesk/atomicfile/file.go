// Package atomicfile writes files that are there whole, and on disk, or not at all: whoever
// reads one meanwhile, or after a power cut, has the old one or the new one.
package atomicfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

// Write puts what write writes into the file at path, with that mode.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return put(path, func(file *os.File) error { return errors.Join(write(file), file.Chmod(mode)) })
}

// Replace puts text in the place of a file that holds old, with the same mode and owner. A
// file that is new is for its owner and the group of its folder to read. It fails if somebody
// else has changed the file.
func Replace(path string, old, text []byte) error {
	defer lock(filepath.Dir(path))() // or two might find the same old one
	return put(path, func(file *os.File) error {
		mode := fs.FileMode(0o640)
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
			if err := giveTo(file, info); err != nil {
				return fmt.Errorf("%s would get another owner: %w", path, err)
			}
		} else if info, err := os.Stat(filepath.Dir(path)); err == nil {
			_ = giveTo(file, info) // whoever may read the folder's other files
		}
		if _, err := file.Write(text); err != nil {
			return err
		}
		if err := errors.Join(file.Chmod(mode), file.Sync()); err != nil {
			return err
		}
		now, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(now, old) {
			return fmt.Errorf("%s was changed by somebody else meanwhile", path)
		}
		return nil
	})
}

// put makes the file under a hidden name, which no pattern of an include matches, and renames
// it.
func put(path string, write func(*os.File) error) (err error) {
	dir := filepath.Dir(path)
	folder, err := os.Open(dir) // before anything is changed
	if err != nil {
		return err
	}
	defer folder.Close()
	file, err := os.CreateTemp(dir, unfinished(path)+"*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	if err := write(file); err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	if err := syncFolder(folder); err != nil {
		return fmt.Errorf("%s is written, but a power cut may undo that: %w", path, err)
	}
	return nil
}

// unfinished is how the names begin under which a file is made.
func unfinished(path string) string { return "." + filepath.Base(path) + "." }

// RemoveUnfinished removes what a process left that was killed while it wrote a file. Nobody may be
// writing it.
func RemoveUnfinished(path string) error {
	dir := filepath.Dir(path)
	entries, err := os.ReadDir(dir)
	for _, entry := range entries {
		number, found := strings.CutPrefix(entry.Name(), unfinished(path))
		if _, notOurs := strconv.ParseUint(number, 10, 32); found && notOurs == nil && entry.Type().IsRegular() {
			err = errors.Join(err, os.Remove(filepath.Join(dir, entry.Name())))
		}
	}
	return err
}

// syncFolder has a new name survive a power cut, where the system can do that.
func syncFolder(folder *os.File) error {
	if runtime.GOOS == "windows" { // which writes no folders to disk
		return nil
	}
	err := folder.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) { // as some disks of a network say it
		return nil
	}
	return err
}
