package webhook

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"code.dny.dev/ssrf"
	"golang.org/x/net/idna"

	"frontdesk/mapping"
)

// Rules say which callback addresses are allowed. The zero value allows the
// public ones on port 443.
type Rules struct {
	// AllowHosts are names or addresses that need not be public. A name is
	// exempt whatever it resolves to. An address is exempt where the callback
	// spells it, not where a name resolves to it.
	AllowHosts []string
	// Ports are allowed in addition to 443.
	Ports []uint16
}

// AddressLength is the longest webhook_url, in characters, before and after
// percent-encoding.
const AddressLength = 2048

const (
	addressField = "webhook_url"
	idParameter  = "id"
	defaultPort  = 443
)

// ParseCallback reads a webhook_url. It returns a violation of the rows
// "required", "too long for datatype: varchar", "for validation: https" or
// "for validation: public address"; the first that holds.
//
// The URL it returns has its host in lower-case ASCII without trailing dots,
// and its port only where that is not 443. Path and query keep their spelling;
// characters that a request line may not hold are percent-encoded.
//
// A name that looks public may still resolve to a private address: Caller checks that.
func ParseCallback(raw string, rules Rules) (*url.URL, error) {
	if raw == "" {
		return nil, mapping.Fail(mapping.FieldRequired, mapping.Literal(addressField))
	}
	if n := utf8.RuneCountInString(raw); n > AddressLength {
		return nil, mapping.Fail(mapping.VarcharTooLong, mapping.Literal(addressField), n, AddressLength)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, invalid(raw, "https").Cured("webhook_url is a whole address: https://shop.example/ready.")
	}
	path, _, _ := strings.Cut(raw, "?")
	port, ok := rules.port(u.Port())
	for _, wrong := range []struct {
		is   bool
		cure string
	}{
		{u.Scheme != "https", "webhook_url begins with https://."},
		{u.Hostname() == "", "webhook_url names a host: https://shop.example/ready."},
		{u.User != nil, "webhook_url has no user and password: calls are signed instead."},
		{strings.Contains(raw, "#"), "webhook_url has no fragment: take out # and what follows."},
		{strings.TrimSpace(raw) != raw || strings.ContainsFunc(path, unicode.IsSpace), "webhook_url has no blanks in its path and around it: a blank is written %20."},
		{hasID(u.RawQuery), "webhook_url has no parameter id of its own: it is added to each call."},
		{!ok, "webhook_url has a port that is not allowed. Allowed are: " + rules.portWords() + "."},
	} {
		if wrong.is {
			return nil, invalid(raw, "https").Cured(wrong.cure)
		}
	}
	h, ok := parseHost(u.Hostname())
	if !ok || !rules.exempt(h) && !h.public() {
		return nil, invalid(raw, "public address")
	}
	u.Host = h.join(port)
	u.RawQuery = escapeQuery(u.RawQuery)
	if n := len(u.String()); n > AddressLength {
		return nil, mapping.Fail(mapping.VarcharTooLong, mapping.Literal(addressField), n, AddressLength)
	}
	return u, nil
}

func invalid(raw, validation string) *mapping.Error {
	return mapping.Fail(mapping.ValidationFailed, mapping.Literal(addressField), raw, mapping.Literal(validation))
}

// portWords returns the ports that a callback may have.
func (r Rules) portWords() string {
	ports := []string{strconv.Itoa(defaultPort)}
	for _, p := range r.Ports {
		if p != defaultPort {
			ports = append(ports, strconv.Itoa(int(p)))
		}
	}
	return strings.Join(ports, ", ")
}

// hasID reports whether a query has a parameter named id. Receivers differ on
// whether a semicolon separates parameters, so it does here.
func hasID(query string) bool {
	parameters := strings.FieldsFunc(query, func(r rune) bool { return r == '&' || r == ';' })
	return slices.ContainsFunc(parameters, func(p string) bool {
		name, _, _ := strings.Cut(p, "=")
		plain, err := url.QueryUnescape(name)
		return err == nil && plain == idParameter
	})
}

// withID returns the URL with the id added to its query.
func withID(u *url.URL, id string) *url.URL {
	called := *u
	if called.RawQuery != "" {
		called.RawQuery += "&"
	}
	called.RawQuery += idParameter + "=" + url.QueryEscape(id)
	return &called
}

// escapeQuery encodes what would end or garble a request line; url.Parse leaves
// a query as it is.
func escapeQuery(query string) string {
	var b strings.Builder
	for i := range len(query) {
		if c := query[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&b, "%%%02X", c)
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// port reads the port of a URL, which may have none, and judges it.
func (r Rules) port(text string) (uint16, bool) {
	if text == "" {
		return defaultPort, true
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return uint16(n), err == nil && slices.Contains(r.ports(), uint16(n))
}

func (r Rules) ports() []uint16 { return append([]uint16{defaultPort}, r.Ports...) }

// exempt reports whether a host is allowed although it is not public.
func (r Rules) exempt(h host) bool {
	return slices.ContainsFunc(r.AllowHosts, func(text string) bool {
		allowed, ok := parseHost(text)
		return ok && allowed == h
	})
}

// host is a name or a literal address in canonical form.
type host struct {
	name string
	addr netip.Addr // valid for a literal only
}

// parseHost reads a host without brackets and port. It knows one spelling of an
// IPv4 address, four decimal numbers: 2130706433, 0x7f.1 and 0177.0.0.1 mean
// 127.0.0.1 to some resolvers and are no host here.
func parseHost(text string) (host, bool) {
	if strings.Contains(text, ":") {
		addr, err := netip.ParseAddr(text)
		return host{name: addr.String(), addr: addr}, err == nil
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) {
		ascii, err := idna.Lookup.ToASCII(text)
		if err != nil {
			return host{}, false
		}
		text = ascii
	}
	name := strings.TrimRight(strings.ToLower(text), ".")
	if addr, err := netip.ParseAddr(name); err == nil {
		return host{name: addr.String(), addr: addr}, true
	}
	labels := strings.Split(name, ".")
	ok := len(name) <= 253 && !slices.ContainsFunc(labels, malformed) && !numeric(labels[len(labels)-1])
	return host{name: name}, ok
}

func malformed(label string) bool {
	return label == "" || len(label) > 63 || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != ""
}

// numeric reports whether lenient parsers would read a name with this last label as an IPv4
// address (the "ends in a number" check of the URL standard).
func numeric(label string) bool {
	if strings.Trim(label, "0123456789") == "" {
		return true
	}
	digits, hex := strings.CutPrefix(label, "0x")
	return hex && strings.Trim(digits, "0123456789abcdef") == ""
}

// withoutAzure denies the address at which Azure serves only its own machines, although it is
// a public one.
func withoutAzure() ssrf.Option {
	return ssrf.WithDeniedV4Prefixes(netip.PrefixFrom(netip.AddrFrom4([4]byte{168, 63, 129, 16}), 32))
}

// public reports whether a host may be called as far as its spelling shows.
func (h host) public() bool {
	if h.addr.IsValid() {
		return ssrf.New(withoutAzure()).SafeAddr(h.addr) == nil
	}
	dot := strings.LastIndexByte(h.name, '.')
	return dot >= 0 && !slices.Contains([]string{"local", "internal", "localhost"}, h.name[dot+1:])
}

func (h host) join(port uint16) string {
	name := h.name
	if h.addr.Is6() {
		name = "[" + strings.Replace(name, "%", "%25", 1) + "]"
	}
	if port == defaultPort {
		return name
	}
	return name + ":" + strconv.Itoa(int(port))
}

// dialer connects to addresses that the rules allow. It judges each address after its
// name was resolved, just before the connection is made.
type dialer struct {
	rules   Rules
	guarded net.Dialer // public addresses only
	exempt  net.Dialer // any address, but allowed ports only
}

func newDialer(rules Rules, base net.Dialer) *dialer {
	d := &dialer{rules: rules, guarded: base, exempt: base}
	d.guarded.Control = ssrf.New(ssrf.WithPorts(rules.ports()...), withoutAzure()).Safe
	d.exempt.Control = ssrf.New(ssrf.WithPorts(rules.ports()...),
		ssrf.WithAllowedV4Prefixes(netip.PrefixFrom(netip.IPv4Unspecified(), 0)),
		ssrf.WithAllowedV6Prefixes(netip.PrefixFrom(netip.IPv6Unspecified(), 0))).Safe
	return d
}

// DialContext is a http.Transport's: without a proxy, address has the host of
// the URL that is called.
func (d *dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	name, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	if h, ok := parseHost(name); ok && d.rules.exempt(h) {
		return d.exempt.DialContext(ctx, network, address)
	}
	return d.guarded.DialContext(ctx, network, address)
}
