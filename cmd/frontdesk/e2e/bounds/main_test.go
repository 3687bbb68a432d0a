// Package bounds tries what a client can take of the program: bodies, connections,
// time, rates.
package bounds

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
