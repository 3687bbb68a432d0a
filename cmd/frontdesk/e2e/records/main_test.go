// Package records holds the real program to what it promises of records: under
// concurrency, kill -9, stops, backups; measures how fast it is, and looks at its traces.
package records

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
