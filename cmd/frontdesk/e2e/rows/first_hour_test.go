package rows

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestFirstHour is what an integrator does first.
func TestFirstHour(t *testing.T) {
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		d := rig.Start(t, rig.Options{DSN: dsn})
		token := d.Login(rig.FullKey, "demo")
		a := d.Call("GET", "/vehicle?page_size=2", token, "")
		require.Equal(t, 200, a.Status, "%s", a.Body)
		id := d.Create(token, "order", `{"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-07-01"}`)
		require.Positive(t, id)
	})
}
