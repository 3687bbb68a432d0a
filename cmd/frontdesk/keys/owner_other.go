//go:build !unix

package keys

import (
	"io/fs"
	"os"
)

// giveTo leaves the owner to the system.
func giveTo(*os.File, fs.FileInfo) error { return nil }
