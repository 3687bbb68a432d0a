// Package secrets holds two administrations side by side that differ only in what
// somebody may not see, and asks both the same: nobody can tell which is which.
package secrets

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
