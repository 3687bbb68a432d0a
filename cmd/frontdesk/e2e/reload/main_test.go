// Package reload changes what a desk serves by while it serves, its configuration,
// certificates and sheets, by signals and by files that change.
package reload

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
