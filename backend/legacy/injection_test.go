package legacy

import (
	"testing"

	"frontdesk/auth"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/legacy/foreigntest"
)

// TestHostileFilters asks DEALERPAK by texts that would be more than values, on each engine.
func TestHostileFilters(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		drivertest.Injection{Client: x.front, Clients: []auth.Client{one, two}}.Run(t)
	})
}

// TestForeignHostileFilters asks Northwind, which has no walk: the other databases of the tree
// are asked so at the end of theirs.
func TestForeignHostileFilters(t *testing.T) {
	drivertest.Injection{Client: openForeign(t, foreigntest.Northwind(t)).front, Clients: []auth.Client{one}}.Run(t)
}
