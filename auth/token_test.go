package auth_test

import (
	"crypto/sha256"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

func TestHashToken(t *testing.T) {
	const token = "5f0c6a52-4a51-4d1e-9c3b-0f6f6a1b2c3d"
	tests := []struct {
		name, text string
		token, key bool
	}{
		{"as issued", token, true, true},
		{"upper case", "5F0C6A52-4A51-4D1E-9C3B-0F6F6A1B2C3D", true, true},
		{"empty", "", false, false},
		{"undashed", "5f0c6a524a514d1e9c3b0f6f6a1b2c3d", false, false},
		{"urn", "urn:uuid:" + token, false, false},
		{"braces", "{" + token + "}", false, false},
		{"trailing space", token + " ", false, false},
		{"one short", token[:35], false, false},
		{"no hex", "5f0c6a52-4a51-4d1e-9c3b-0f6f6a1b2c3g", false, false},
		{"dash moved", "5f0c6a524-a51-4d1e-9c3b-0f6f6a1b2c3d", false, false},
		{"36 bytes of other things", "ééééééééééééééééééé"[:36], false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			hash, ok := auth.HashToken(test.text)
			require.Equal(t, test.token, ok)
			if ok {
				require.Equal(t, auth.TokenHash(sha256.Sum256([]byte(token))), hash)
			}
			key, ok := auth.HashKey(test.text)
			require.Equal(t, test.key, ok)
			if ok {
				require.Equal(t, sha256.Sum256([]byte(token)), key)
			}
		})
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
