package auth_test

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

const (
	keyA = "aaaaaaaa-1111-4111-8111-111111111111"
	keyB = "bbbbbbbb-2222-4222-8222-222222222222"
)

func sum(s string) [32]byte { return sha256.Sum256([]byte(s)) }

func ring(t *testing.T, keys ...auth.Key) *auth.Keyring {
	t.Helper()
	r, err := auth.NewKeyring(keys, nil)
	require.NoError(t, err)
	return r
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
