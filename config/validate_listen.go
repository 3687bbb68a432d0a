package config

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// leastToken is how long ops.token is, as 128 bits in base64.
const leastToken = 22

func (v *validator) ops() {
	v.hosts("ops.hosts", ruleOpsHost, v.Ops.Hosts)
	if token := v.Ops.Token; token != "" && len(token) < leastToken {
		v.fail("ops.token", ruleOpsToken, "found one of %d characters, expected at least %d: it is guessed from anywhere that reaches ops.listen", len(token), leastToken)
	}
	if v.Ops.Listen == "" {
		return
	}
	v.address("ops.listen", v.Ops.Listen)
	if collide(v.Server.Listen, v.Ops.Listen) {
		v.fail("ops.listen", ruleListenTwice, "found %s, which server.listen, %s, takes as well, expected a port of its own",
			v.found("ops.listen", v.Ops.Listen), v.found("server.listen", v.Server.Listen))
	}
}

// collide tells whether two listeners would use the same port of an address. It does not
// resolve names, except localhost.
func collide(a, b string) bool {
	hostA, portA, errA := splitAddress(a)
	hostB, portB, errB := splitAddress(b)
	if errA != nil || errB != nil || portA != portB || portA == 0 {
		return false
	}
	ipA, ipB := listenedOn(hostA), listenedOn(hostB)
	if ipA.IsUnspecified() || ipB.IsUnspecified() { // Go listens on all addresses of IPv6 too where it is told 0.0.0.0
		return true
	}
	return ipA == ipB && (ipA.IsValid() || strings.EqualFold(hostA, hostB))
}

// listenedOn is the address that a listener gets for that host; none if the name would
// have to be resolved.
func listenedOn(host string) netip.Addr {
	switch ip, err := netip.ParseAddr(host); {
	case host == "":
		return netip.IPv6Unspecified()
	case strings.EqualFold(host, "localhost"):
		return netip.AddrFrom4([4]byte{127, 0, 0, 1})
	case err != nil:
		return netip.Addr{}
	default:
		return ip.Unmap()
	}
}

func splitAddress(text string) (host string, port uint64, err error) {
	host, text, err = net.SplitHostPort(text)
	if err == nil {
		port, err = strconv.ParseUint(text, 10, 16)
	}
	return host, port, err
}

func (v *validator) address(path, text string) {
	host, _, err := splitAddress(text)
	if err != nil || host != "" && !isHost(host) {
		v.fail(path, RuleAddress, "found %s, expected host:port such as 127.0.0.1:8080", v.found(path, text))
	}
}

var hostForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9_-]*[A-Za-z0-9])?)*$`)

// isHost reports whether text is an IP address or could be a host's name.
func isHost(text string) bool {
	if _, err := netip.ParseAddr(text); err == nil {
		return true
	}
	return len(text) <= 253 && hostForm.MatchString(text) && strings.Trim(text, "0123456789.") != ""
}

// hosts judges a list of names or addresses.
func (v *validator) hosts(list, rule string, hosts []string) {
	for i, host := range hosts {
		path := fmt.Sprintf("%s[%d]", list, i)
		if !isHost(host) {
			v.fail(path, rule, "found %s, expected a host's name or address, without scheme and port", v.found(path, host))
		} else if slices.Contains(hosts[:i], host) {
			v.fail(path, ruleRepeated, "found %s again", v.found(path, host))
		}
	}
}
