package legacytest

import (
	"os/exec"
	"runtime"
	"syscall"
)

// startBound starts a command that ends with this process, however that ends. It
// is started from a thread that lives until release is called: the signal comes
// when the starting thread ends.
func startBound(cmd *exec.Cmd) (release func(), err error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	started, done := make(chan error), make(chan struct{})
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		started <- cmd.Start()
		<-done
	}()
	if err := <-started; err != nil {
		close(done)
		return nil, err
	}
	return func() { close(done) }, nil
}
