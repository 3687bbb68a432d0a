package auth_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/rig/must"
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

const (
	keyA = "aaaaaaaa-1111-4111-8111-111111111111"
	keyB = "bbbbbbbb-2222-4222-8222-222222222222"
)

func sum(s string) [32]byte { return sha256.Sum256([]byte(s)) }

func ring(t *testing.T, keys ...auth.Key) *auth.Keyring {
	t.Helper()
	return must.Have(auth.NewKeyring(keys, nil))(t)
}

func TestKeyringFind(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	rotated := auth.Key{Name: "rotated", Hashes: []auth.KeyHash{
		{Hash: sum(keyA), Expires: noon},
		{Hash: sum(keyB)},
	}}
	ending := auth.Key{Name: "ending", Expires: noon, Hashes: []auth.KeyHash{
		{Hash: sum(keyA), Expires: noon.Add(time.Hour)},
	}}
	tests := []struct {
		name   string
		key    auth.Key
		apiKey string
		at     time.Time
		want   bool
	}{
		{"known", rotated, keyB, noon, true},
		{"the old one before its end", rotated, keyA, noon.Add(-1), true},
		{"the old one at its end", rotated, keyA, noon, false},
		{"unknown", rotated, "cccccccc-3333-4333-8333-333333333333", noon, false},
		{"in upper case", rotated, strings.ToUpper(keyB), noon, true},
		{"with urn", rotated, "urn:uuid:" + keyB, noon, false},
		{"empty", rotated, "", noon, false},
		{"a key before its end", ending, keyA, noon.Add(-1), true},
		{"a key at its end, whatever its hash says", ending, keyA, noon, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, hash := ring(t, test.key), sum(strings.ToLower(test.apiKey))
			found := r.Find(test.apiKey, test.at)
			require.Equal(t, test.want, found != nil)
			require.Equal(t, found, r.ByHash(hash, test.at))
			if found != nil {
				require.Equal(t, test.key.Name, found.Name)
				require.Equal(t, fmt.Sprintf("%x", hash)[:8], found.By(hash).Short())
				require.Empty(t, found.By(sum("another")).Short())
			}
		})
	}
}

func TestKeyringIsACopy(t *testing.T) {
	keys := []auth.Key{{Name: "a", Hashes: []auth.KeyHash{{Hash: sum(keyA)}}, Allowed: []bool{false}}}
	r := ring(t, keys...)
	keys[0].Name, keys[0].Allowed[0] = "changed", true
	found := r.Find(keyA, time.Now())
	require.Equal(t, "a", found.Name)
	require.False(t, found.May(0))
}

func TestNewKeyringReportsEveryFault(t *testing.T) {
	_, err := auth.NewKeyring([]auth.Key{
		{Name: "a", Hashes: []auth.KeyHash{{Hash: sum(keyA)}}},
		{Name: "a", Hashes: []auth.KeyHash{{Hash: sum(keyA)}}},
		{Name: "", Hashes: []auth.KeyHash{{}}},
		{Name: "c", Bounds: auth.Bounds{Rate: auth.Rate{PerSecond: math.NaN(), Burst: 1}, Concurrent: -1, PerDay: -1}},
		{Name: "d", Hashes: []auth.KeyHash{{Hash: sum(keyB)}}, Bounds: auth.Bounds{Rate: auth.Rate{PerSecond: 5}}},
	}, nil)
	require.Error(t, err)
	require.Equal(t, strings.Join([]string{
		`auth: api_key "a": name used twice`,
		`auth: api_key "a": hash already used by "a"`,
		`auth: api_key "": has no name`,
		`auth: api_key "": has an empty hash`,
		`auth: api_key "c": has no hash`,
		`auth: api_key "c": rate per second must be a number above 0`,
		`auth: api_key "c": concurrent must be 0 or more`,
		`auth: api_key "c": per_day must be 0 or more`,
		`auth: api_key "d": rate burst must be 1 or more`,
	}, "\n"), err.Error())
}

func TestKeyMayDeniesByDefault(t *testing.T) {
	k := &auth.Key{Allowed: []bool{false, true}}
	for operation, want := range map[int]bool{-1: false, 0: false, 1: true, 2: false} {
		require.Equal(t, want, k.May(operation), operation)
	}
	require.False(t, (&auth.Key{}).May(0))
}

// accounts are users in memory, of whom nobody logs in.
type accounts struct {
	auth.Verifier
	users  map[string]auth.User
	hashes map[string]string
	resets map[[32]byte]reset
	fail   error // of Redeem
}

type reset struct {
	username string
	expires  time.Time
}

func newAccounts() *accounts {
	a := &accounts{users: map[string]auth.User{}, hashes: map[string]string{}, resets: map[[32]byte]reset{}}
	for i, u := range []auth.User{
		{Username: "anna", Email: "anna@example.nl"},
		{Username: "bert", Email: "bert@example.nl"},
		{Username: "blocked", Email: "blocked@example.nl", Blocked: true},
		{Username: "external", External: true},
		{Username: "noemail", Email: " "},
		{Username: "bademail", Email: "bad@"},
	} {
		u.ID, u.Client = int64(i+1), auth.Client{ID: 1, Name: "Garage"}
		a.users[u.Username] = u
	}
	return a
}

func (a *accounts) FindUser(_ context.Context, username string) (auth.User, error) {
	if user, ok := a.users[username]; ok {
		return user, nil
	}
	return auth.User{}, auth.ErrUnknownUser
}

func (a *accounts) SetPassword(_ context.Context, username, encodedHash string) error {
	a.hashes[username] = encodedHash
	return nil
}

func (a *accounts) KeepReset(_ context.Context, tokenHash [32]byte, username string, expires time.Time) error {
	a.resets[tokenHash] = reset{username, expires}
	return nil
}

func (a *accounts) FindReset(_ context.Context, tokenHash [32]byte, now time.Time) (auth.User, error) {
	if found, ok := a.resets[tokenHash]; ok && now.Before(found.expires) {
		return a.users[found.username], nil
	}
	return auth.User{}, auth.ErrUnknownReset
}

func (a *accounts) Redeem(ctx context.Context, tokenHash [32]byte, encodedHash string, now time.Time) error {
	user, err := a.FindReset(ctx, tokenHash, now)
	if err != nil || a.fail != nil {
		return errors.Join(err, a.fail)
	}
	maps.DeleteFunc(a.resets, func(_ [32]byte, r reset) bool { return r.username == user.Username })
	return a.SetPassword(ctx, user.Username, encodedHash)
}

// TestHashToken: a token, and an api_key, is the text of a UUID as it is issued, and no other text of it.
func TestHashToken(t *testing.T) {
	const token = "5f0c6a52-4a51-4d1e-9c3b-0f6f6a1b2c3d"
	for text, is := range map[string]bool{
		token: true, "5F0C6A52-4A51-4D1E-9C3B-0F6F6A1B2C3D": true,
		"": false, "5f0c6a524a514d1e9c3b0f6f6a1b2c3d": false, "urn:uuid:" + token: false, "{" + token + "}": false, token + " ": false, token[:35]: false,
		"5f0c6a52-4a51-4d1e-9c3b-0f6f6a1b2c3g": false, "5f0c6a524-a51-4d1e-9c3b-0f6f6a1b2c3d": false, "ééééééééééééééééééé"[:36]: false,
	} {
		hash, ok := auth.HashToken(text)
		key, isKey := auth.HashKey(text)
		require.Equal(t, [2]bool{is, is}, [2]bool{ok, isKey}, text)
		if is {
			require.Equal(t, [2][32]byte{sha256.Sum256([]byte(token)), sha256.Sum256([]byte(token))}, [2][32]byte{hash, key}, text)
		}
	}
}

func TestFingerprint(t *testing.T) {
	key := &auth.Key{Name: "webshop"}
	user := auth.User{ID: 1, Username: "anna", Client: auth.Client{ID: 3}}
	base := auth.Fingerprint(key, user, "v1")
	require.Len(t, base, 64)

	same := user
	same.Email = "new@example.nl"
	require.Equal(t, base, auth.Fingerprint(&auth.Key{Name: "webshop"}, same, "v1"))

	other := user
	other.Client.ID = 4
	shifted := user
	shifted.Username = "panna"
	seen := map[string]bool{base: true}
	for _, f := range []string{
		auth.Fingerprint(key, user, "v2"),
		auth.Fingerprint(key, other, "v1"),
		auth.Fingerprint(&auth.Key{Name: "websho"}, shifted, "v1"),
		auth.Fingerprint(key, auth.User{Username: "bert", Client: user.Client}, "v1"),
	} {
		require.False(t, seen[f])
		seen[f] = true
	}
}
