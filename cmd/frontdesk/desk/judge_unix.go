//go:build unix

package desk

import "golang.org/x/sys/unix"

// accessible tells whether the user of this process may write a file, or into a folder.
func accessible(path string) bool {
	return unix.Access(path, unix.W_OK) == nil
}
