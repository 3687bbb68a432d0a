package webhook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/gateway/webhook"
)

func checked(t *testing.T, l *webhook.Links, query string) bool {
	t.Helper()
	id, ok, err := l.Check(t.Context(), query)
	require.NoError(t, err)
	return ok && id == "a1-b2_"
}

func signed(t *testing.T, l *webhook.Links) string {
	t.Helper()
	query, err := l.Sign(t.Context(), "a1-b2_")
	require.NoError(t, err)
	return query
}

func TestLinkIsValidForAnHour(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		c := newClock()
		l := webhook.NewLinks(e.open(t), c.Now)
		query := signed(t, l)
		require.True(t, checked(t, l, query))
		c.Advance(time.Hour - time.Millisecond)
		require.True(t, checked(t, l, query))
		c.Advance(time.Millisecond)
		require.False(t, checked(t, l, query))
	})
}

func TestEveryCharacterOfALinkCounts(t *testing.T) {
	l := webhook.NewLinks(sqliteEngine(t).open(t), newClock().Now)
	query := signed(t, l)
	for i := range query {
		for _, with := range []string{"", "0", "1", "a", "A", "%", "+", "&", "=", ";", query[i:i+1] + query[i:i+1], strings.ToUpper(query[i : i+1])} {
			if changed := query[:i] + with + query[i+1:]; changed != query {
				_, ok, err := l.Check(t.Context(), changed)
				require.NoError(t, err)
				require.False(t, ok, changed)
			}
		}
	}
	for _, changed := range []string{"", "&" + query, query + "&", query + "&id=other", "id=other&" + query, query + " ", strings.Replace(query, "-", "%2D", 1)} {
		require.False(t, checked(t, l, changed), changed)
	}
}

func TestSigningKeysRotate(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		c := newClock()
		store := e.open(t)
		l := webhook.NewLinks(store, c.Now)
		key := func(query string) string {
			_, after, _ := strings.Cut(query, "&key=")
			id, _, _ := strings.Cut(after, "&")
			return id
		}
		first := key(signed(t, l))
		c.Advance(24*time.Hour - time.Second)
		old := signed(t, l)
		require.Equal(t, first, key(old))
		c.Advance(time.Minute)
		second := key(signed(t, l))
		require.NotEqual(t, first, second)
		c.Advance(58 * time.Minute)
		require.True(t, checked(t, l, old), "a link outlives the rotation of its key")
		require.Equal(t, second, key(signed(t, l)))
		c.Advance(24 * time.Hour)
		signed(t, l)
		keys, err := store.SigningKeys(t.Context(), c.Now().Add(-time.Hour), time.Time{}, webhook.SigningKey{})
		require.NoError(t, err)
		require.Len(t, keys, 2, "the first is gone")
		require.Equal(t, second, keys[1].ID)
		require.Len(t, keys[0].Secret, 32)
	})
}

func TestLinksOutliveARestart(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		c := newClock()
		query := signed(t, webhook.NewLinks(e.open(t), c.Now))
		require.True(t, checked(t, webhook.NewLinks(e.open(t), c.Now), query))
	})
}

// The other instance knows no newer key than it read half a second ago.
func TestLinksHoldOnEveryInstance(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		c := newClock()
		one, other := webhook.NewLinks(e.open(t), c.Now), webhook.NewLinks(e.open(t), c.Now)
		require.True(t, checked(t, other, signed(t, one)))
		c.Advance(24*time.Hour - 500*time.Millisecond)
		signed(t, other)
		c.Advance(500 * time.Millisecond)
		require.True(t, checked(t, other, signed(t, one)))
	})
}
