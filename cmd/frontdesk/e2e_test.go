package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestFirstHour is what an integrator does first.
func TestFirstHour(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		d := startDesk(t, deskOptions{dsn: dsn})
		token := d.login(fullKey, "demo")
		a := d.call("GET", "/vehicle?page_size=2", token, "")
		require.Equal(t, 200, a.Status, "%s", a.Body)
		id := d.create(token, "order", `{"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-07-01"}`)
		require.Positive(t, id)
	})
}
