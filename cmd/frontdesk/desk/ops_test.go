package desk

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

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

// A panic is answered and logged, and says nothing of itself to who asked.
func TestOpsPanic(t *testing.T) {
	core, logged := observer.New(zap.ErrorLevel)
	s := newOpsServer(nil, time.Minute, zap.New(core))
	s.Get("/", func(*fiber.Ctx) error { panic("a secret") })
	answer, err := s.Test(httptest.NewRequest("GET", "/", nil), -1)
	require.NoError(t, err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusInternalServerError, answer.StatusCode)
	require.NotContains(t, string(body), "secret")
	require.Equal(t, 1, logged.FilterField(zap.Any("cause", "a secret")).Len())
}

// A connection that has not asked when the server stops is closed once it does: what it would be
// answered has ended.
func TestOpsLate(t *testing.T) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := newOpsServer(at, time.Minute, zap.NewNop())
	s.Get("/", func(c *fiber.Ctx) error { return c.SendStatus(fiber.StatusOK) })
	var serving sync.WaitGroup
	serving.Go(func() { _ = s.serve() })
	ask := func(c net.Conn) error {
		if _, err := io.WriteString(c, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		answer, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err == nil {
			err = answer.Body.Close()
		}
		return err
	}
	late, err := net.Dial("tcp", at.Addr().String())
	require.NoError(t, err)
	defer late.Close()
	early, err := net.Dial("tcp", at.Addr().String()) // accepted after the other
	require.NoError(t, err)
	defer early.Close()
	require.NoError(t, ask(early))
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	s.stop(stopped)
	serving.Wait()
	require.Error(t, ask(late))
}
