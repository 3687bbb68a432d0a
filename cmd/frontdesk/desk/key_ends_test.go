package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/config"
)

// TestRevokeThatIsNotToldYet: while the database is away too, no file that is older, cut short or away
// for a moment undoes a revoke; a hash that was only gone is let in again.
func TestRevokeThatIsNotToldYet(t *testing.T) {
	k := &keyEnds{tables: new(neighbours.Tables), removed: map[[32]byte]bool{}, told: make(chan struct{}, 1), queue: map[[32]byte]neighbours.KeyEnd{}}
	hash := config.Digest{1}
	with := func(expires time.Time) []config.Key {
		return []config.Key{{Name: "webshop", Expires: config.Expiry{Time: expires}, Hashes: []config.KeyHash{{Hash: hash}}}}
	}
	look := func() auth.Cause {
		ring, err := auth.NewKeyring([]auth.Key{{Name: "webshop", Hashes: []auth.KeyHash{{Hash: hash}}}}, &k.ring)
		require.NoError(t, err)
		_, why := ring.Look(hash, time.Now())
		return why
	}
	always, ended := with(time.Time{}), with(time.Now().Add(-time.Second))
	k.changed(always, nil)
	k.changed(nil, always)
	require.Empty(t, look(), "it was away for a moment")

	k.changed(always, with(time.Now().Add(time.Hour)))
	k.changed(with(time.Now().Add(time.Hour)), always)
	require.Empty(t, look(), "an end that has not come is taken back")

	k.changed(always, ended)
	require.Equal(t, auth.CauseKeyRevoked, look())
	k.changed(ended, always)
	require.Equal(t, auth.CauseKeyRevoked, look(), "by a file that is older, or cut short")
	k.changed(always, nil)
	k.changed(nil, always)
	require.Equal(t, auth.CauseKeyRevoked, look(), "and one that was away")
	require.True(t, k.queue[hash].Final, "the others will hear of it")
}
