package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
	"frontdesk/cmd/frontdesk/rig"
)

// TestConform holds the built-in administration to the suite that is given to
// vendors: nothing fails, and what cannot be asked is exactly this.
func TestConform(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		report := rig.Conform(t, rig.ConformOptions(rig.Start(t, rig.Options{DSN: dsn}).Base))
		require.Empty(t, rig.Ended(report, backendtest.Failed), "%s", rig.Failures(report))
		require.Empty(t, rig.Ended(report, backendtest.Needs))
		require.Equal(t, notAsked, rig.Ended(report, backendtest.Impossible))
		require.Len(t, report.Resources, 16)
		leavesClosedOrders(t, report)
	})
}

// leavesClosedOrders holds what stays after a run to what only a closed order holds.
func leavesClosedOrders(t *testing.T, report *backendtest.Report) {
	t.Helper()
	for _, left := range report.LeftOver {
		require.Regexp(t, `cannot add/update/delete$|in use at: order(line)?$`, left)
	}
}

// notAsked is what the built-in administration cannot be asked from outside.
var notAsked = []string{
	"general.internal_error", "general.backend_unavailable", "general.backend_timeout", "general.backend_changed", "general.too_many_requests", "general.request_malformed",
	"general.body_too_large", "general.overloaded", "webhook.result_too_large", "general.idempotency_key_in_use", "put.field_required", "list.page_too_large", "model.body_not_json",
	"record.put_merges [vehicleroleline flatrateline]", "record.put_empties [flatrateline]", "record.put_empty_text [vehicleroleline flatrateline article]",
	"record.length_in_characters [vehicleroleline flatrateline]",
	"record.unique [contact order orderline vehicleroleline contactcommunication contactaddress flatrateline document]",
	"record.references [contact flatrate employee document turnovergroup advertisementsite country]",
	"record.unicode [vehicleroleline flatrateline]",
	"record.milliseconds [orderline vehicleadvertisementsite contactcommunication contactaddress flatrate flatrateline article employee document turnovergroup advertisementsite country]",
	"record.decimals [contact order vehicleroleline contactcommunication contactaddress flatrate document turnovergroup advertisementsite country]",
	"copy.age " + everyResource, "copy.asked " + everyResource, "copy.stale_if_error " + everyResource, "authenticate.allowlist",
}
