package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

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

// TestLogKeyEnds: a key is told from 30 days before its end until it has come.
func TestLogKeyEnds(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	start := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	keys := []config.Key{
		{Name: "webshop", Expires: config.Expiry{Time: start.AddDate(0, 0, 40)}, Hashes: []config.KeyHash{{Hash: config.Digest{1}}}},
		{Name: "gone", Expires: config.Expiry{Time: start.AddDate(0, 0, -1)}, Hashes: []config.KeyHash{{Hash: config.Digest{2}}}},
		{Name: "stays", Hashes: []config.KeyHash{{Hash: config.Digest{3}}}},
	}
	for day := range 45 {
		logKeyEnds(keys, start.AddDate(0, 0, day), zap.New(core))
		told := logs.TakeAll()
		if day < 10 || day >= 40 {
			require.Empty(t, told, day)
			continue
		}
		require.Len(t, told, 1, day)
		require.Equal(t, "webshop", told[0].ContextMap()["key"])
		require.EqualValues(t, 40-day, told[0].ContextMap()["days_left"])
	}
}
