package sqltest

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Freeze stops the server from answering while its connections stay open; the function
// returned lets it go on, as the end of the test does. Where a server's processes cannot
// be found, which is anywhere but on Linux, the test is skipped.
func (n *Node) Freeze(t testing.TB) (thaw func()) {
	t.Helper()
	server := strconv.Itoa(n.running.Process().Pid)
	signal := func(to syscall.Signal) {
		t.Helper()
		if err := n.running.Process().Signal(to); err != nil {
			t.Fatal(err)
		}
		children, err := os.ReadFile(filepath.Join("/proc", server, "task", server, "children"))
		if errors.Is(err, os.ErrNotExist) {
			_ = n.running.Process().Signal(syscall.SIGCONT)
			t.Skip("the processes of a server cannot be told: ", err)
		}
		if err != nil {
			t.Fatal(err)
		}
		for pid := range strings.FieldsSeq(string(children)) {
			child, err := strconv.Atoi(pid)
			if err == nil {
				err = syscall.Kill(child, to)
			}
			if err != nil && !errors.Is(err, syscall.ESRCH) {
				t.Fatal(err)
			}
		}
	}
	signal(syscall.SIGSTOP) // the server first, so that there are no more of them
	frozen := true
	thaw = func() {
		t.Helper()
		if frozen {
			frozen = false
			signal(syscall.SIGCONT)
		}
	}
	t.Cleanup(thaw)
	return thaw
}
