package remote

import (
	"testing"

	"frontdesk/auth"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/remote/remotetest"
)

// TestHostileFilters asks services by texts that would be more than values, in JSON and in SOAP.
func TestHostileFilters(t *testing.T) {
	t.Run("garagecloud", func(t *testing.T) {
		drivertest.Injection{Client: newGarage(t, remotetest.Options{}).client, Clients: []auth.Client{noord, zuid}}.Run(t)
	})
	t.Run("autolijn", func(t *testing.T) {
		drivertest.Injection{Client: newAutolijn(t, remotetest.Options{}).client, Clients: []auth.Client{lijnNoord, lijnZuid}}.Run(t)
	})
}

// TestForeignHostileFilters asks a PocketBase, which has no walk: the other services that nobody
// here wrote are asked so at the end of theirs.
func TestForeignHostileFilters(t *testing.T) {
	s := open(t, Options{Sheet: loadSheet(t, "shop.yaml", foreigntest.Shop(t).URL), IDStore: openIDStore(t)})
	drivertest.Injection{Client: front(t, s), Clients: []auth.Client{{ID: 1, Name: "noord"}, {ID: 2, Name: "zuid"}}}.Run(t)
}
