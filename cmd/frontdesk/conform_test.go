package main

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/backendtest"
)

// TestConform holds the built-in administration to the suite that is given to
// vendors: nothing fails, and what cannot be asked is exactly this.
func TestConform(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		report := conform(t, conformOptions(startDesk(t, deskOptions{dsn: dsn}).base))
		require.Empty(t, ended(report, backendtest.Failed), "%s", failures(report))
		require.Empty(t, ended(report, backendtest.Needs))
		require.Equal(t, notAsked, ended(report, backendtest.Impossible))
		require.Len(t, report.Resources, 16)
		for _, left := range report.LeftOver {
			require.Regexp(t, `cannot add/update/delete$|in use at: order(line)?$`, left, "only what a closed order holds may stay")
		}
	})
}

// notAsked is what the built-in administration cannot be asked from outside.
var notAsked = []string{
	"general.internal_error", "general.backend_unavailable", "general.backend_timeout", "general.too_many_requests", "general.request_malformed",
	"general.body_too_large", "general.overloaded", "general.idempotency_key_in_use", "put.field_required", "model.body_not_json",
	"record.put_merges [vehicleroleline flatrateline]", "record.put_empties [flatrateline]", "record.put_empty_text [vehicleroleline flatrateline article]",
	"record.length_in_characters [vehicleroleline flatrateline]",
	"record.unique [contact order orderline vehicleroleline contactcommunication contactaddress flatrateline document]",
	"record.references [contact flatrate employee document turnovergroup advertisementsite country]",
	"record.unicode [vehicleroleline flatrateline]",
	"record.milliseconds [orderline vehicleadvertisementsite contactcommunication contactaddress flatrate flatrateline article employee document turnovergroup advertisementsite country]",
	"record.decimals [contact order vehicleroleline contactcommunication contactaddress flatrate document turnovergroup advertisementsite country]",
	"state.blocked [vehicleroleline flatrateline]", "state.archived [vehicleroleline flatrateline]", "authenticate.allowlist",
}

// conformOptions are all that the suite can be given.
func conformOptions(base string) backendtest.Options {
	login := func(name string) backendtest.Login { return backendtest.Login{Username: name, Password: name} }
	return backendtest.Options{
		BaseURL: base, APIKey: fullKey, Login: login("demo"), Other: login("other"),
		External: login("external"), NoEmail: login("noemail"), BadEmail: login("bademail"),
	}
}

func conform(t *testing.T, o backendtest.Options) *backendtest.Report {
	t.Helper()
	report, err := backendtest.Run(context.Background(), o)
	require.NoError(t, err)
	return report
}

// ended are the cases that ended in a status, with the resources they did on.
func ended(report *backendtest.Report, s backendtest.Status) (names []string) {
	for _, r := range report.Results {
		if r.Status != s {
			continue
		}
		last := len(names) - 1
		if last >= 0 && r.Resource != "" && strings.HasPrefix(names[last], r.Case.ID+" [") {
			names[last] = strings.TrimSuffix(names[last], "]") + " " + r.Resource + "]"
			continue
		}
		names = append(names, r.Name())
	}
	return names
}

func failures(report *backendtest.Report) string {
	var b strings.Builder
	for _, r := range report.Results {
		if r.Status == backendtest.Failed {
			b.WriteString(r.Name() + ": " + r.Reason + "\n  expected " + r.Expected + "\n  got      " + r.Got + "\n")
		}
	}
	return b.String()
}
