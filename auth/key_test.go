package auth_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

func TestKeyAddresses(t *testing.T) {
	networks := func(texts ...string) (all auth.Addresses) {
		for _, text := range texts {
			all = append(all, netip.MustParsePrefix(text))
		}
		return all
	}
	for name, c := range map[string]struct {
		addresses auth.Addresses
		hold      []string
		denied    []string
	}{
		"no lists":    {auth.Addresses{}, []string{"192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1"}, nil},
		"allowed":     {networks("192.0.2.0/24", "2001:db8::/32"), []string{"192.0.2.255", "::ffff:192.0.2.1", "2001:db8::1"}, []string{"192.0.3.0", "2001:db9::1", "::192.0.2.1"}},
		"mapped":      {networks("::ffff:192.0.2.0/120"), []string{"192.0.2.1", "::ffff:192.0.2.1"}, []string{"192.0.3.1"}},
		"all of IPv4": {networks("0.0.0.0/0"), []string{"192.0.2.1", "::ffff:192.0.2.1"}, []string{"2001:db8::1"}},
		"a zone":      {networks("fe80::/64"), []string{"fe80::1", "fe80::1%eth0"}, []string{"fe81::1%eth0"}},
	} {
		t.Run(name, func(t *testing.T) {
			key := ring(t, auth.Key{Name: "a", Hashes: []auth.KeyHash{{Hash: sum(keyA)}}, Addresses: c.addresses}).Find(keyA, time.Now())
			for _, text := range c.hold {
				require.True(t, key.Addresses.Hold(netip.MustParseAddr(text)), text)
			}
			for _, text := range c.denied {
				require.False(t, key.Addresses.Hold(netip.MustParseAddr(text)), text)
			}
			require.Equal(t, c.denied == nil, key.Addresses.Hold(netip.Addr{}), "no address")
		})
	}
}
