package remote

import (
	"fmt"
	"testing"

	"frontdesk/auth"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/remote/foreigntest"
	"frontdesk/backend/remote/remotetest"
)

// TestHostileFilters asks services by texts that would be more than values, in JSON, in SOAP and
// by the protocol. Those that nobody here wrote are asked so at the end of their walks.
func TestHostileFilters(t *testing.T) {
	t.Run("garagecloud", func(t *testing.T) {
		drivertest.Injection{Client: newGarage(t, remotetest.Options{}).client, Clients: []auth.Client{noord, zuid}}.Run(t)
	})
	t.Run("autolijn", func(t *testing.T) {
		drivertest.Injection{Client: newAutolijn(t, remotetest.Options{}).client, Clients: []auth.Client{lijnNoord, lijnZuid}}.Run(t)
	})
	t.Run("shop", func(t *testing.T) {
		s := open(t, Options{Sheet: loadSheet(t, "shop.yaml", foreigntest.Shop(t).URL), IDStore: openIDStore(t)})
		drivertest.Injection{Client: front(t, s), Clients: []auth.Client{{ID: 1, Name: "noord"}, {ID: 2, Name: "zuid"}}}.Run(t)
	})
	t.Run("adapter", func(t *testing.T) {
		_, c := protocolFixture(t)
		for i, text := range drivertest.Texts {
			if i%3 == 2 {
				create(t, c, []auth.Client{anna, bert}[i%2], "turnovergroup", fmt.Sprintf(`{"code":"W%d","description":%q,"vat_kind":"high","ledger_account":"8000"}`, i, text))
			}
		}
		drivertest.Injection{Client: c, Clients: []auth.Client{anna, bert}}.Run(t)
	})
}
