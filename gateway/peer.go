package gateway

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/valyala/fasthttp"
)

// Peer is the other end of a connection.
type Peer struct {
	Address     string       // IP address, without port
	Certificate *Certificate // the verified one that it showed; nil for none
}

// Certificate is that of a client.
type Certificate struct {
	SHA256 [32]byte  // of the certificate as it is sent (DER)
	Until  time.Time // its last moment
}

// addressOf returns the IP address of a connection's other end.
func addressOf(a net.Addr) string {
	if tcp, ok := a.(*net.TCPAddr); ok {
		return tcp.IP.String()
	}
	return net.IPv4zero.String()
}

// certificateOf returns the verified certificate that a client proved to hold in the
// handshake.
func certificateOf(c net.Conn) *Certificate {
	secure, ok := c.(*tls.Conn)
	if !ok {
		return nil
	}
	state := secure.ConnectionState()
	if len(state.VerifiedChains) == 0 {
		return nil
	}
	shown := state.PeerCertificates[0]
	return &Certificate{SHA256: sha256.Sum256(shown.Raw), Until: shown.NotAfter}
}

// clientAddress returns the address that a request comes from: the peer's or, if that is a
// trusted proxy, the nearest one in X-Forwarded-For that is not a trusted proxy.
// Addresses further left could be invented by anybody. It is "" if the proxy's header
// cannot be read: the unknown client must not be treated as the proxy itself.
func (g *Gateway) clientAddress(peer string, h *fasthttp.RequestHeader) string {
	if len(g.o.TrustedProxies) == 0 {
		return peer
	}
	if address, err := netip.ParseAddr(peer); err != nil || !g.trusted(address) {
		return peer
	}
	found := peer
	for _, line := range slices.Backward(h.PeekAll("X-Forwarded-For")) {
		for rest, more := line, true; more; {
			comma := bytes.LastIndexByte(rest, ',')
			address, ok := forwarded(rest[comma+1:])
			if !ok {
				return ""
			}
			if found = address.String(); !g.trusted(address) {
				return found
			}
			if more = comma >= 0; more {
				rest = rest[:comma]
			}
		}
	}
	return found
}

func (g *Gateway) trusted(address netip.Addr) bool {
	address = address.Unmap()
	return slices.ContainsFunc(g.o.TrustedProxies, func(p netip.Prefix) bool { return p.Contains(address) })
}

// forwarded reads one address of X-Forwarded-For; some proxies add the port, or
// brackets.
func forwarded(text []byte) (netip.Addr, bool) {
	s := strings.Trim(string(text), " \t")
	address, err := netip.ParseAddr(s)
	if inside, ok := strings.CutPrefix(s, "["); err != nil && ok && strings.HasSuffix(inside, "]") {
		address, err = netip.ParseAddr(strings.TrimSuffix(inside, "]"))
	}
	if err != nil {
		var both netip.AddrPort
		both, err = netip.ParseAddrPort(s)
		address = both.Addr()
	}
	if err != nil || address.Zone() != "" {
		return netip.Addr{}, false
	}
	return address.Unmap(), true
}
