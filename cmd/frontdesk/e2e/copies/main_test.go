// Package copies keeps copies of records beside writers, by frontdesk mirror and by the
// programs of docs/kits, and compares them with their source.
package copies

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
