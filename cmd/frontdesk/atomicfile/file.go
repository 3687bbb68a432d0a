// Package atomicfile writes files completely, and synced to disk, or not at all: readers see the
// old file or the new one, even after a power cut.
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

// Write replaces the file at path by what write writes, with that mode.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return put(path, func(file *os.File) error { return errors.Join(write(file), file.Chmod(mode)) })
}

// Replace replaces the contents old of a file by text, with the same mode and owner. A new file
// can be read by its owner and the group of its folder. Replace fails if somebody else has changed
// the file.
func Replace(path string, old, text []byte) error {
	defer lock(filepath.Dir(path))() // two programs must not both find old
	return put(path, func(file *os.File) error {
		mode := fs.FileMode(0o640)
		if info, err := os.Stat(path); err == nil {
			mode = info.Mode().Perm()
			if err := giveTo(file, info); err != nil {
				return fmt.Errorf("%s would get another owner: %w", path, err)
			}
		} else if info, err := os.Stat(filepath.Dir(path)); err == nil {
			_ = giveTo(file, info) // if that fails, the file stays this user's
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

// put writes the file under a hidden name, which no pattern of an include matches, and renames
// it.
func put(path string, write func(*os.File) error) (err error) {
	dir := filepath.Dir(path)
	folder, err := os.Open(dir) // if that fails, nothing is changed yet
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

// unfinished returns the prefix of the hidden names.
func unfinished(path string) string { return "." + filepath.Base(path) + "." }

// RemoveUnfinished removes what a process left that was killed while it wrote the file. No other process may
// be writing it.
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

// syncFolder makes a new name survive a power cut, where the system can do that.
func syncFolder(folder *os.File) error {
	if runtime.GOOS == "windows" { // Windows cannot sync folders
		return nil
	}
	err := folder.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.EINVAL) { // some network disks cannot, either
		return nil
	}
	return err
}
