package desk

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// guarded lets in requests from this machine, and those with ops.token: its pages show more than
// health and metrics, such as whose requests were refused.
func (h *Desk) guarded(c *fiber.Ctx) error {
	if h.isOperator(c) {
		return c.Next()
	}
	if h.config.Ops.Token == "" {
		return fiber.NewError(fiber.StatusForbidden, "this page is for this machine only; ops.token lets others see it")
	}
	c.Set(fiber.HeaderWWWAuthenticate, `Basic realm="frontdesk, any name and ops.token as the password"`)
	return fiber.NewError(fiber.StatusUnauthorized, "this page wants ops.token, as the password or as a bearer token")
}

func (h *Desk) isOperator(c *fiber.Ctx) bool {
	if c.Context().RemoteIP().IsLoopback() && !isForwarded(c) {
		return true
	}
	token := string(h.config.Ops.Token)
	if token == "" {
		return false
	}
	authorization := c.Get(fiber.HeaderAuthorization)
	scheme, given, _ := strings.Cut(authorization, " ")
	if !strings.EqualFold(scheme, "Bearer") {
		_, given, _ = (&http.Request{Header: http.Header{fiber.HeaderAuthorization: {authorization}}}).BasicAuth()
	}
	got, wanted := sha256.Sum256([]byte(given)), sha256.Sum256([]byte(token))
	return subtle.ConstantTimeCompare(got[:], wanted[:]) == 1
}

// isForwarded reports whether the request comes through a proxy, which may run on this machine.
func isForwarded(c *fiber.Ctx) bool {
	for name := range c.Request().Header.All() {
		switch name := strings.ToLower(string(name)); {
		case name == "forwarded", name == "via", name == "x-real-ip", name == "true-client-ip", name == "cf-connecting-ip", strings.HasPrefix(name, "x-forwarded-"):
			return true
		}
	}
	return false
}
