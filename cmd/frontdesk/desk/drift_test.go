package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

// TestKeyDigests: what api_keys say is compared, in whatever order.
func TestKeyDigests(t *testing.T) {
	key := func(name string, change func(*config.Key)) config.Key {
		k := config.Key{Name: name, Hashes: []config.KeyHash{{Hash: config.Digest{1}}}, Allow: []config.Rule{{Method: "GET", Path: "/order"}}}
		if change != nil {
			change(&k)
		}
		return k
	}
	of := func(keys ...config.Key) [2]string {
		a, b := keyDigests(&config.Config{APIKeys: keys})
		return [2]string{a, b}
	}
	first := of(key("a", nil), key("b", nil))
	require.Equal(t, first, of(key("b", nil), key("a", nil)), "in whatever order")
	for what, change := range map[string]func(*config.Key){
		"name": func(k *config.Key) { k.Name = "c" }, "hash": func(k *config.Key) { k.Hashes[0].Hash = config.Digest{2} }, "allow": func(k *config.Key) { k.Allow = nil },
		"expires": func(k *config.Key) { k.Expires = config.Expiry{Time: time.Unix(1, 0)} },
	} {
		now := of(key("a", nil), key("b", change))
		require.NotEqual(t, first[0], now[0], what)
		require.Equal(t, first[1], now[1], what)
	}
	for what, change := range map[string]func(*config.Key){
		"rate":       func(k *config.Key) { k.Rate = &config.Rate{PerSecond: 1, Burst: 2} },
		"concurrent": func(k *config.Key) { k.Concurrent = 3 }, "per_day": func(k *config.Key) { k.PerDay = 4 },
	} {
		now := of(key("a", nil), key("b", change))
		require.Equal(t, first[0], now[0], what)
		require.NotEqual(t, first[1], now[1], what)
	}
}
