package legacy

import (
	"testing"

	"frontdesk/auth"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/legacy/foreigntest"
)

// TestHostileFilters asks DEALERPAK by texts that would be more than values, on each engine, and
// Northwind, which has no walk. The other databases of the tree are asked so at the end of theirs.
func TestHostileFilters(t *testing.T) {
	t.Run("northwind", func(t *testing.T) {
		drivertest.Injection{Client: openForeign(t, foreigntest.Northwind(t)).front, Clients: []auth.Client{one}}.Run(t)
	})
	onEngines(t, func(t *testing.T, x *fixture) {
		drivertest.Injection{Client: x.front, Clients: []auth.Client{one, two}}.Run(t)
	})
}
