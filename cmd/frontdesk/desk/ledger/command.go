package ledger

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/user"
	"strings"
	"time"

	"frontdesk/backend/sqlrecord"
)

// actsTime bounds how long the list of acts is waited for before an act is done without it.
const actsTime = 5 * time.Second

// Command does something by a command that the list of acts is to have. Where the list cannot
// take it, as on a full disk, it is done all the same: a user is blocked.
func Command(ctx context.Context, own sqlrecord.DB, stderr io.Writer, what, whom string, do func() error) error {
	lost := func(err error) {
		fmt.Fprintf(stderr, "frontdesk: the list of acts (frontdesk acts list) does not have all of this: %v\n", err)
	}
	opening, cancel := context.WithTimeout(ctx, actsTime)
	defer cancel()
	kept, err := Open(opening, own)
	if err != nil {
		lost(err)
		return do()
	}
	return kept.Do(ctx, Act{What: what, Whom: whom, Who: whoActs(), Origin: whereFrom()}, lost, do)
}

// whoActs is the user of the system that runs the command, and for whom, as sudo has it. The
// system vouches for the first; the second anybody can set who may run the command.
func whoActs() string {
	name := fmt.Sprintf("uid %d", os.Getuid())
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if by := os.Getenv("SUDO_USER"); by != "" && by != name {
		name += " (sudo of " + by + ")"
	}
	return name
}

// whereFrom is the host, and the terminal or where its user has logged in from.
func whereFrom() string {
	host, _ := os.Hostname() // without it the rest is told
	all := []string{cmp.Or(host, "host unknown")}
	if from, _, _ := strings.Cut(os.Getenv("SSH_CONNECTION"), " "); from != "" {
		if address, err := netip.ParseAddr(from); err == nil {
			all = append(all, "ssh from "+address.String())
		}
	}
	if name := tty(); name != "" {
		all = append(all, name)
	}
	return strings.Join(all, ", ")
}

// tty is that of the command; "" where it has none, or the system does not tell.
func tty() string {
	for fd := range 3 {
		name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		if device, ok := strings.CutPrefix(name, "/dev/"); err == nil && ok && (strings.HasPrefix(device, "pts/") || strings.HasPrefix(device, "tty")) {
			return device
		}
	}
	return ""
}
