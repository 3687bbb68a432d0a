package desk

import (
	"net/http/httptest"
	"testing"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

// The name that a listener is opened by is its own, also where it is the machine's.
func TestOwnHost(t *testing.T) {
	app := fiber.New()
	app.Use(newProbes(config.Ops{Listen: "Gateway1:9090"}, nil).ownHost)
	for host, want := range map[string]int{"gateway1": 404, "gateway1:80": 404, "GATEWAY1.": 404, "gateway2": 421, "gateway1.example": 421} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Host = host
		answer, err := app.Test(r)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode, host)
	}
}
