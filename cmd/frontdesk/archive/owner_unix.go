//go:build unix

package archive

import (
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// owners names who a file belongs to; numbers may stand for others on the next machine.
func owners(info fs.FileInfo) (owner, group string) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", ""
	}
	if u, err := user.LookupId(strconv.FormatUint(uint64(stat.Uid), 10)); err == nil {
		owner = u.Username
	}
	if g, err := user.LookupGroupId(strconv.FormatUint(uint64(stat.Gid), 10)); err == nil {
		group = g.Name
	}
	return owner, group
}

// give gives a file or folder, which chown changes, the owner and group of a part, which only root can. Those that
// this machine does not know stay root's.
func (p Part) give(chown func(uid, gid int) error) error {
	if os.Geteuid() != 0 {
		return nil
	}
	uid, gid := -1, -1
	if u, err := user.Lookup(p.Owner); err == nil {
		uid, _ = strconv.Atoi(u.Uid)
	}
	if g, err := user.LookupGroup(p.Group); err == nil {
		gid, _ = strconv.Atoi(g.Gid)
	}
	return chown(uid, gid)
}
