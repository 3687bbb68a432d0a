//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
)

// giveTo leaves the owner to the system.
func giveTo(*os.File, fs.FileInfo) error { return nil }
