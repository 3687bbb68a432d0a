//go:build !unix

package desk

import (
	"io/fs"
	"os"
)

// ownerOf is not known here.
func ownerOf(fs.FileInfo) string { return "" }

// giveTo leaves the owner to the system.
func giveTo(*os.File, fs.FileInfo) error { return nil }
