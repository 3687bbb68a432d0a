package desk

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/config"
)

// meeting is what a gateway finds of one other, round after round.
type meeting struct {
	t    *testing.T
	of   *drift
	seen time.Time
}

func newMeeting(t *testing.T) *meeting {
	return &meeting{t: t, of: new(drift), seen: time.Unix(1_800_000_000, 0)}
}

// round has the other one say so, after it has told it anew where it is alive.
func (m *meeting) round(alive bool, here, there map[string]string) []string {
	m.t.Helper()
	if alive {
		m.seen = m.seen.Add(DriftEvery)
	}
	document, err := json.Marshal(setup{Host: "web2", Listen: "10.0.0.2:8080", Parts: there})
	require.NoError(m.t, err)
	var said []string
	for _, g := range m.of.compare(setup{Parts: here}, []neighbours.Gateway{{ID: "other", Seen: m.seen, Document: string(document)}, {ID: "newer", Seen: m.seen, Document: "[]"}}) {
		said = append(said, g.String())
	}
	return said
}

// TestDriftIsToldOfThoseWhoStay: of a moment's difference, as by a reload, nobody is told, nor of a
// gateway that was killed before it was told.
func TestDriftIsToldOfThoseWhoStay(t *testing.T) {
	here, there := map[string]string{partZone: "UTC", partKeys: "1", partSheet: "a"}, map[string]string{partZone: "Europe/Amsterdam", partKeys: "2", partSessions: "x"}
	const told = "the gateway 10.0.0.2:8080 of web2 is set up otherwise than this one: time_zone (Europe/Amsterdam, here UTC), api_keys"
	m := newMeeting(t)
	for range driftTold - 1 {
		require.Empty(t, m.round(true, here, there))
	}
	require.Empty(t, m.round(false, here, there), "it was killed")
	require.Equal(t, []string{told}, m.round(true, here, there))
	require.Equal(t, []string{told}, m.round(false, here, there), "it is not long that it says nothing")
	require.Empty(t, m.round(true, here, here))
	require.Empty(t, m.round(true, here, there), "from the beginning")

	m = newMeeting(t)
	for range 3 * driftTold {
		require.Empty(t, m.round(true, here, there))
		require.Empty(t, m.round(true, here, here))
	}
	m = newMeeting(t)
	for range 3 * driftTold {
		require.Empty(t, m.round(true, here, map[string]string{}), "what one of them does not say differs in nothing")
	}
}

// TestDriftInWords: what can be shown is, and a version is that of an upgrade.
func TestDriftInWords(t *testing.T) {
	for want, parts := range map[string][2]map[string]string{
		"runs version v2, and this one v1: a rolling upgrade is not finished": {{partVersion: "v1"}, {partVersion: "v2"}},
		"runs version v2, and this one v1: a rolling upgrade is not finished, and is set up otherwise than this one: model": {
			{partVersion: "v1", partModel: "1"}, {partVersion: "v2", partModel: "2"}},
		"is set up otherwise than this one: base_path (none, here /v2), sessions": {{partBasePath: "/v2", partSessions: "1"}, {partBasePath: "", partSessions: "2"}},
	} {
		m := newMeeting(t)
		var said []string
		for range driftTold {
			said = m.round(true, parts[0], parts[1])
		}
		require.Equal(t, []string{"the gateway 10.0.0.2:8080 of web2 " + want}, said)
	}
}

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
		"rate": func(k *config.Key) { k.Rate = &config.Rate{PerSecond: 1, Burst: 2} }, "client_rate": func(k *config.Key) { k.ClientRate = &config.Rate{PerSecond: 1, Burst: 2} },
		"concurrent": func(k *config.Key) { k.Concurrent = 3 }, "per_day": func(k *config.Key) { k.PerDay = 4 },
	} {
		now := of(key("a", nil), key("b", change))
		require.Equal(t, first[0], now[0], what)
		require.NotEqual(t, first[1], now[1], what)
	}
}
