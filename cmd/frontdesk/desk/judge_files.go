package desk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// canMake returns why a folder cannot be made; nil if it is there, or can be made.
func canMake(folder string) error {
	folder = Absolute(folder)
	for at := folder; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist) && isLink(at):
			return fmt.Errorf("%s is a link to nothing, expected a folder", at)
		case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
			continue // to the folder it would be made in: the root is there
		case err != nil:
			return err
		case !info.IsDir():
			return fmt.Errorf("%s is no folder", at)
		case at == folder:
			return nil
		default:
			return mayWrite(at)
		}
	}
}

// canWrite returns why a file cannot be opened for writing; nil if it can be opened or made.
func canWrite(file string) error {
	file = Absolute(file)
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder, expected a file", file)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = mayWrite(file)
		}
		return err
	}
	if to, err := os.Readlink(file); err == nil { // opening it makes what it leads to
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(file), to)
		}
		return canWrite(to)
	}
	folder := filepath.Dir(file)
	if info, err := os.Stat(folder); err != nil {
		return err
	} else if !info.IsDir() {
		return fmt.Errorf("%s is no folder", folder)
	}
	return mayWrite(folder)
}

// wasThere returns an error if a database is not there, and files beside it are: a gateway has
// served from it. To begin with an empty one is for migrate.
func wasThere(database string) error {
	if info, err := os.Stat(database); !errors.Is(err, fs.ErrNotExist) && (err != nil || info.Size() > 0) {
		return nil
	}
	for _, beside := range []string{historyFile(database), string(spareOf(database))} {
		if _, err := os.Stat(beside); err == nil {
			return fmt.Errorf("there is no database %s, and a gateway has served from it, since there is %s: restore the database; frontdesk migrate makes a new one", Absolute(database), Absolute(beside))
		}
	}
	return nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// mayWrite tells that the user who asks may not write what is there.
func mayWrite(path string) error {
	if !accessible(path) {
		return fmt.Errorf("%s cannot be written by user %s", path, currentUser())
	}
	return nil
}

// JudgedFor tells for whom, and from where, files and folders are judged.
func JudgedFor() string { return fmt.Sprintf("user %s in %s", currentUser(), Absolute(".")) }

// currentUser names who the program runs as: what is judged, is judged for that user.
func currentUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Geteuid())
}

// located adds to an error of the file system which folder a path is relative to: this one, which
// may not be the one that frontdesk serves in.
func located(err error) error {
	failed, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	return fmt.Errorf("%s: %w", Absolute(failed.Path), failed.Err)
}

// Absolute is a path with the folder that it is relative to, as others find it, who work in another one.
func Absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
