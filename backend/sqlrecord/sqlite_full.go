package sqlrecord

import (
	"errors"

	"zombiezen.com/go/sqlite"
)

// DiskFull reports whether an error is SQLite's that the disk of its file is full: of a
// write, or of a start, for which the index of its log has to be made.
func DiskFull(err error) bool {
	code := sqlite.ErrCode(err)
	var other interface{ Code() int } // of the driver that migrations go through
	if errors.As(err, &other) {
		code = sqlite.ResultCode(other.Code())
	}
	return code.ToPrimary() == sqlite.ResultFull || code == sqlite.ResultIOErrSHMSize
}
