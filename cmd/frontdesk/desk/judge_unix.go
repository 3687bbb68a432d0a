//go:build unix

package desk

import "golang.org/x/sys/unix"

// accessible tells whether this process may write a file, or into a folder, as opening it
// would: by its effective user and what it is capable of.
func accessible(path string) bool {
	return unix.Faccessat(unix.AT_FDCWD, path, unix.W_OK, unix.AT_EACCESS) == nil
}
