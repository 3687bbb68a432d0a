// Package conformance runs the conformance suite on everything that is shipped, and on
// what has defects.
package conformance

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
