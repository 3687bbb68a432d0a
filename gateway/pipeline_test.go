package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestKeyOfALiveToken: what the configuration says now decides, not what it said
// when the token was issued.
func TestKeyOfALiveToken(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo, unauthorized := h.as("demo"), fault{401, "Not authorized", "token_invalid", ""}
	require.Equal(t, 200, demo.ask("GET", "/order/1", "").status)
	h.setKeys(keyOf(keyAll, "all", Grant{"GET", "/vehicle"}))
	refused(t, demo.ask("GET", "/order/1", ""), fault{400, "Invalid endpoint: /order/1", "endpoint_unknown", ""})
	expired := keyOf(keyAll, "all", h.Grants()...)
	expired.Expires = h.clock.Now()
	h.setKeys(expired)
	refused(t, demo.ask("GET", "/order/1", ""), unauthorized)
	h.setKeys(keyOf("another", "another"))
	refused(t, demo.ask("GET", "/order/1", ""), unauthorized)
}

// TestTokenEndsAfterHalfAnHour, to the moment.
func TestTokenEndsAfterHalfAnHour(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo := h.as("demo")
	h.clock.Advance(30*time.Minute - 1)
	require.Equal(t, 200, demo.ask("GET", "/order/1", "").status)
	h.clock.Advance(1)
	refused(t, demo.ask("GET", "/order/1", ""), fault{401, "Not authorized", "token_invalid", ""})
}
