package legacy

import (
	"testing"

	"frontdesk/auth"
	"frontdesk/backend/drivertest"
)

// TestHostileFilters asks DEALERPAK by texts that would be more than values, on each engine. The
// other databases of the tree are asked so at the end of their walks.
func TestHostileFilters(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		drivertest.Injection{Client: x.front, Clients: []auth.Client{one, two}}.Run(t)
	})
}
