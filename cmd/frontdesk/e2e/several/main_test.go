// Package several runs several gateways on one database, behind a real load balancer:
// failures of parts, fail-over, rolling upgrade.
package several

import (
	"os"
	"testing"

	"frontdesk/cmd/frontdesk/rig"
)

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
