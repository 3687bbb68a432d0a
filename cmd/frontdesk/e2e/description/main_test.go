// Package description holds what integrators are given to what is served: the
// tutorial, the client kits, the arrays of each key.
package description

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
