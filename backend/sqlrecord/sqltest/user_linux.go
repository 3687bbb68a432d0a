package sqltest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"
)

// PostgreSQL refuses to run as root: then another user's account is borrowed.

// handOver gives a folder to the account that the server will run as.
func handOver(dir string) error {
	uid, gid, err := account()
	if err != nil || uid < 0 {
		return err
	}
	return os.Chown(dir, uid, gid)
}

// unprivileged makes a command run as that account, and end by itself when this
// process does.
func unprivileged(cmd *exec.Cmd, dir string) error {
	uid, gid, err := account()
	if err != nil {
		return err
	}
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGQUIT} // on SIGQUIT it tidies up after itself
	if uid >= 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
	}
	return nil
}

// account is -1 where this process may run the server itself.
func account() (uid, gid int, err error) {
	if os.Geteuid() != 0 {
		return -1, -1, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uerr := strconv.Atoi(u.Uid)
		gid, gerr := strconv.Atoi(u.Gid)
		if uerr == nil && gerr == nil {
			return uid, gid, nil
		}
	}
	return 0, 0, fmt.Errorf("PostgreSQL does not run as root, and there is no account postgres or nobody")
}

// startBound starts a command that ends with this process, however that ends,
// from a thread that lives until release is called: the signal of Pdeathsig comes
// when the starting thread ends.
func startBound(cmd *exec.Cmd) (release func(), err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	}
	started, done := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		started <- cmd.Start()
		<-done
	}()
	err = <-started
	if err != nil {
		close(done)
		return nil, err
	}
	return func() { close(done) }, nil
}
