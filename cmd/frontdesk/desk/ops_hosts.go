package desk

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"

	"frontdesk/config"
)

func newProbes(c config.Ops, health func(context.Context) Health) probes {
	return probes{append([]string{"localhost", "", c.Listen}, c.Hosts...), health} // HAProxy sends no name
}

// isOwn reports whether a request asks by a name of the operators' listener, or by an address.
func (a probes) isOwn(c *fiber.Ctx) bool {
	host := hostOf(c.Get(fiber.HeaderHost))
	_, err := netip.ParseAddr(host)
	own := err == nil || slices.ContainsFunc(a.names, func(name string) bool { return hostOf(name) == host })
	return own && strings.HasPrefix(c.OriginalURL(), "/") // an absolute URL would name another host
}

// ownHost refuses requests for a name that is not one of the listener's own. It prevents DNS
// rebinding: an attacker's name that resolves to the listener would let a page in an operator's
// browser read what only the operator may.
func (a probes) ownHost(c *fiber.Ctx) error {
	if !a.isOwn(c) {
		return fiber.NewError(fiber.StatusMisdirectedRequest, fmt.Sprintf("asked for %q, which is no name of this listener: ops.hosts names further ones", hostOf(string(c.Context().Host()))))
	}
	return c.Next()
}

// hostOf returns the host of an address, with or without a port, in the form in which names are compared.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(address, "[]"), "."))
}

// ownOrigin refuses requests that pages of other sites make: browsers name the origin of the page.
// It allows a person to follow a link here.
func ownOrigin(c *fiber.Ctx) error {
	site, origin := c.Get("Sec-Fetch-Site"), c.Get(fiber.HeaderOrigin)
	from, err := url.Parse(origin)
	if origin != "" && (err != nil || !strings.EqualFold(from.Host, c.Get(fiber.HeaderHost))) ||
		strings.HasSuffix(site, "-site") && c.Get("Sec-Fetch-Dest") != "document" {
		return fiber.NewError(fiber.StatusForbidden, "not for pages of others")
	}
	return c.Next()
}
