// Package callbacks holds long-running work to its promises, through the whole program.
package callbacks

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
