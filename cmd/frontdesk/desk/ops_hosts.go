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
	return probes{append([]string{"localhost", "", c.Listen}, c.Hosts...), health} // HAProxy sends none
}

// isOwn reports whether a request asks by a name of the operators' listener, or by an address.
func (a probes) isOwn(c *fiber.Ctx) bool {
	host := hostOf(c.Get(fiber.HeaderHost))
	_, err := netip.ParseAddr(host)
	own := err == nil || slices.ContainsFunc(a.names, func(name string) bool { return hostOf(name) == host })
	return own && strings.HasPrefix(c.OriginalURL(), "/") // and has no other host there
}

// ownHost lets requests in that ask for the operators' listener by a name of its own. A
// browser of somebody who may reach the listener would else ask it for whoever owns a name
// and has it lead here.
func (a probes) ownHost(c *fiber.Ctx) error {
	if !a.isOwn(c) {
		return fiber.NewError(fiber.StatusMisdirectedRequest, fmt.Sprintf("asked for %q, which is no name of this listener: ops.hosts names further ones", hostOf(string(c.Context().Host()))))
	}
	return c.Next()
}

// hostOf is the host of an address, with or without a port, as names are compared.
func hostOf(address string) string {
	if host, _, err := net.SplitHostPort(address); err == nil {
		address = host
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(address, "[]"), "."))
}

// ownOrigin keeps what is for programs from the pages of others: a browser that shows one
// says whose page asks. A person may follow a link here.
func ownOrigin(c *fiber.Ctx) error {
	site, origin := c.Get("Sec-Fetch-Site"), c.Get(fiber.HeaderOrigin)
	from, err := url.Parse(origin)
	if origin != "" && (err != nil || !strings.EqualFold(from.Host, c.Get(fiber.HeaderHost))) ||
		strings.HasSuffix(site, "-site") && c.Get("Sec-Fetch-Dest") != "document" {
		return fiber.NewError(fiber.StatusForbidden, "not for pages of others")
	}
	return c.Next()
}
