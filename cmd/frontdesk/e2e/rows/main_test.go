// Package rows brings about every row of the interface and of the contract, and every
// answer that is described, over HTTP.
package rows

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m, rig.EverythingMet)) }
