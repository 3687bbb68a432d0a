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
			continue // with the parent folder; the loop ends, since the root exists
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
	if to, err := os.Readlink(file); err == nil { // opening the link creates its target
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

// wasThere returns an error if a database is missing but the files beside it exist: a gateway has served
// from it. Only migrate may begin with an empty one.
func wasThere(database string) error {
	if info, err := os.Stat(database); !errors.Is(err, fs.ErrNotExist) && (err != nil || info.Size() > 0) {
		return nil
	}
	for _, companion := range []string{historyFile(database), string(reserveOf(database))} {
		if _, err := os.Stat(companion); err == nil {
			return fmt.Errorf("there is no database %s, and a gateway has served from it, since there is %s: restore the database; frontdesk migrate makes a new one", Absolute(database), Absolute(companion))
		}
	}
	return nil
}

func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// mayWrite returns an error if the user of this process may not write what path names.
func mayWrite(path string) error {
	if !accessible(path) {
		return fmt.Errorf("%s cannot be written by user %s", path, currentUser())
	}
	return nil
}

// JudgedFor names the user and the folder for which files and folders are judged.
func JudgedFor() string { return fmt.Sprintf("user %s in %s", currentUser(), Absolute(".")) }

// currentUser names the user that the program runs as, for whom files are judged.
func currentUser() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return strconv.Itoa(os.Geteuid())
}

// located makes the path in an error of the file system absolute: this folder may not be the one that
// frontdesk serves in.
func located(err error) error {
	failed, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	return fmt.Errorf("%s: %w", Absolute(failed.Path), failed.Err)
}

// Absolute makes a path absolute, for readers who work in another folder.
func Absolute(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		return whole
	}
	return path
}
