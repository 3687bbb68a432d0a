package gateway

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

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
