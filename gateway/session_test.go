package gateway

import (
	"testing"

	"frontdesk/mapping"
)

// TestWithoutAccounts: where the administration keeps none, no password is reset.
func TestWithoutAccounts(t *testing.T) {
	t.Parallel()
	h := newFixture(t, func(_ *fixture, o *Options) { o.Resets = nil })
	refused(t, h.as("demo").ask("POST", "/authenticate/forgotpassword", `{"username":"demo"}`),
		fault{400, "Invalid endpoint: /authenticate/forgotpassword", mapping.EndpointUnknown, ""})
	refused(t, visitor{h: h}.ask("GET", "/authenticate/resetpassword", ""),
		fault{400, "Invalid endpoint: /authenticate/resetpassword", mapping.EndpointUnknown, ""})
}
