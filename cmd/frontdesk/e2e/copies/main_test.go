// Package copies keeps copies of records beside writers, by the copier of docs/kits/go, and
// compares them with their source.
package copies

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) {
	code := rig.Main(m)
	_ = os.RemoveAll(built.dir)
	os.Exit(code)
}

// built is the copier, once for all tests.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// copier returns the program. It needs Go's own library alone.
func copier(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "frontdesk-copier-"); built.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", filepath.Join(built.dir, "copier"), "./copier")
		build.Dir = rig.Repository(t, "docs", "kits", "go")
		if out, err := build.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	require.NoError(t, built.err)
	return filepath.Join(built.dir, "copier")
}
