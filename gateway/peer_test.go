package gateway

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
)

func TestClientAddress(t *testing.T) {
	trusting := &Gateway{o: Options{TrustedProxies: []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48"),
	}}}
	for _, c := range []struct {
		name, peer string
		header     []string
		want       string
	}{
		{"no header", "10.0.0.1", nil, "10.0.0.1"},
		{"one proxy", "10.0.0.1", []string{"192.0.2.7"}, "192.0.2.7"},
		{"one proxy, mapped", "::ffff:10.0.0.1", []string{"::ffff:192.0.2.7"}, "192.0.2.7"},
		{"one proxy, IPv6", "2001:db8:1::5", []string{"2001:db8:2::7"}, "2001:db8:2::7"},
		{"what the client claims is further left", "10.0.0.1", []string{"198.51.100.1, 192.0.2.7"}, "192.0.2.7"},
		{"two proxies", "10.0.0.1", []string{"198.51.100.1, 192.0.2.7,10.1.2.3"}, "192.0.2.7"},
		{"a client that pretends to be a proxy", "10.0.0.1", []string{"10.9.9.9, 192.0.2.7"}, "192.0.2.7"},
		{"a line for each proxy", "10.0.0.1", []string{"198.51.100.1", "192.0.2.7", "10.1.2.3"}, "192.0.2.7"},
		{"all of the house", "10.0.0.1", []string{"10.5.5.5, 10.1.2.3"}, "10.5.5.5"},
		{"with ports", "10.0.0.1", []string{"192.0.2.7:51234, [2001:db8:1::5]:443"}, "192.0.2.7"},
		{"with brackets", "10.0.0.1", []string{"2001:db8:2::7, [2001:db8:1::5]"}, "2001:db8:2::7"},
		{"rubbish in brackets", "10.0.0.1", []string{"[192.0.2.7:80]"}, ""},
		{"rubbish", "10.0.0.1", []string{"192.0.2.7, unknown"}, ""},
		{"rubbish behind a proxy", "10.0.0.1", []string{"_hidden, 10.1.2.3"}, ""},
		{"rubbish that is not looked at", "10.0.0.1", []string{"<script>, 192.0.2.7"}, "192.0.2.7"},
		{"an empty line", "10.0.0.1", []string{""}, ""},
		{"an empty place", "10.0.0.1", []string{"192.0.2.7,"}, ""},
		{"a zone", "10.0.0.1", []string{"fe80::1%eth0"}, ""},
		{"no proxy of ours", "192.0.2.1", []string{"198.51.100.1"}, "192.0.2.1"},
		{"no address", "", []string{"198.51.100.1"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h fasthttp.RequestHeader
			for _, line := range c.header {
				h.Add("X-Forwarded-For", line)
			}
			require.Equal(t, c.want, trusting.clientAddress(c.peer, &h))
			require.Equal(t, c.peer, new(Gateway).clientAddress(c.peer, &h), "nobody is trusted")
		})
	}
}
