// Package foreign puts the real program in front of systems that are hostile or broken.
package foreign

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
