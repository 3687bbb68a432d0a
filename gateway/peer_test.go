package gateway

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"frontdesk/auth"
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

func TestPolicyKey(t *testing.T) {
	shown := func(digest byte, until time.Time) *Certificate {
		return &Certificate{SHA256: [32]byte{digest}, Until: until}
	}
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	hash := func(n byte) auth.KeyHash { return auth.KeyHash{Hash: [32]byte{n}} }
	keys, err := auth.NewKeyring([]auth.Key{
		{Name: "free", Hashes: []auth.KeyHash{hash(1)}},
		{Name: "near", Hashes: []auth.KeyHash{hash(2)}, Addresses: auth.Addresses{netip.MustParsePrefix("192.0.2.0/24")}},
		{Name: "proved", Hashes: []auth.KeyHash{hash(3)}, Certificates: [][32]byte{{7}, {8}}},
		{Name: "ended", Hashes: []auth.KeyHash{hash(4)}, Expires: now, Addresses: auth.Addresses{netip.MustParsePrefix("192.0.2.0/24")}},
	})
	require.NoError(t, err)
	p := &Policy{Keys: keys}
	for _, c := range []struct {
		hash  byte
		from  caller
		name  string
		cause auth.Cause
	}{
		{9, caller{address: "192.0.2.1"}, "", auth.CauseKeyUnknown},
		{4, caller{address: "198.51.100.1"}, "ended", auth.CauseKeyExpired},
		{1, caller{address: "192.0.2.1"}, "free", ""},
		{1, caller{address: "nowhere"}, "free", ""},
		{2, caller{address: "192.0.2.1"}, "near", ""},
		{2, caller{address: "::ffff:192.0.2.1"}, "near", ""},
		{2, caller{address: "198.51.100.1"}, "near", auth.CauseAddress},
		{2, caller{address: ""}, "near", auth.CauseAddress},
		{3, caller{}, "proved", auth.CauseCertificate},
		{3, caller{certificate: shown(8, now)}, "proved", ""},
		{3, caller{certificate: shown(9, now)}, "proved", auth.CauseCertificate},
		{3, caller{certificate: shown(8, now.Add(-1))}, "proved", auth.CauseCertificate},
	} {
		c.from.at = now
		key, cause := p.key([32]byte{c.hash}, c.from)
		require.Equal(t, c.cause, cause)
		name := ""
		if key != nil {
			name = key.Name
		}
		require.Equal(t, c.name, name)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		p.key([32]byte{2}, caller{address: "192.0.2.1", at: now})
	}))
}
