package auth_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

func foreign(t testing.TB, list ...auth.ForeignHash) *auth.ForeignHashes {
	t.Helper()
	f, err := auth.NewForeignHashes(auth.NewHasher(), list)
	require.NoError(t, err)
	return f
}

// everyForm are all the algorithms that can stand beside each other.
var everyForm = []auth.ForeignHash{
	{Algorithm: auth.Argon2id}, {Algorithm: auth.Bcrypt, Cost: 5}, {Algorithm: auth.SHA512Crypt, Cost: 1000},
	{Algorithm: auth.SHA256Crypt, Cost: 1000}, {Algorithm: auth.PHPass, Cost: 7}, {Algorithm: auth.MD5Crypt},
	{Algorithm: auth.SHA256, Salt: "SALT"}, {Algorithm: auth.SHA1, Salt: "SALT"}, {Algorithm: auth.MD5, Salt: "SALT"},
	{Algorithm: auth.SHA256, Base64: true}, {Algorithm: auth.SHA1, Base64: true}, {Algorithm: auth.MD5, Base64: true},
}

// TestSchemesVectors are hashes published with their passwords: by argon2's
// reference implementation, by Openwall's crypt_blowfish and phpass, by hashcat's
// and John the Ripper's examples; of SHA-crypt the passwords and salts of Ulrich
// Drepper's specification, as OpenSSL and glibc hash them; of digests those of
// FIPS 180 and RFC 1321 ("abc", split into salt and password).
func TestSchemesVectors(t *testing.T) {
	tests := []struct{ name, password, stored, salt string }{
		{"argon2id", "password", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", ""},
		{"bcrypt 2a", "U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", ""},
		{"bcrypt 2b", "U*U*", "$2b$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK", ""},
		{"bcrypt 2y, not ASCII", "\xff\xff\xa3", "$2y$05$/OK.fbVrR/bpIqNJ5ianF.CE5elHaaO4EbggVDjb8P19RukzXSM3e", ""},
		{"bcrypt of 72 bytes", "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789chars after 72 are ignored", "$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui", ""},
		{"sha512crypt", "Hello world!", "$6$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1", ""},
		{"sha512crypt with rounds", "Hello world!", "$6$rounds=10000$saltstringsaltst$OW1/O6BYHV6BcXZu8QVeXbDWra3Oeqh0sbHbbMCVNSnCM/UrjmM0Dp8vOuZeHBy/YTBmSK6H9qs/y3RnOaw5v.", ""},
		{"sha512crypt of the least rounds", "the minimum number is still observed", "$6$rounds=1000$roundstoolow$kUMsbe306n21p9R.FRkW3IGn.S9NPN0x50YhH1xhLsPuWGsUSklZt58jaTfF4ZEQpyUNGc0dqbpBYYBaHHrsX.", ""},
		{"sha256crypt", "Hello world!", "$5$saltstring$5B8vYYiY.CVt1RlTTf8KbXBH3hsxY/GNooZaBBGWEc5", ""},
		{"sha256crypt with rounds", "Hello world!", "$5$rounds=10000$saltstringsaltst$3xv.VbSHBb41AL9AvLeujZkZRBAwqFMz2.opqey6IcA", ""},
		{"md5crypt", "hashcat", "$1$28772684$iEwNOgGugqO9.bIz5sk8k/", ""},
		{"phpass", "test12345", "$P$9IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0", ""},
		{"phpass, hashcat's", "hashcat", "$P$984478476IagS59wHZvyQMArzfx58u.", ""},
		{"phpBB", "test1", "$H$9aaaaaSXBjgypwqm.JsMssPLiS8YQ00", ""},
		{"sha256", "bc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "a"},
		{"sha1", "bc", "a9993e364706816aba3e25717850c26c9cd0d89d", "a"},
		{"md5", "bc", "900150983cd24fb0d6963f7d28e17f72", "a"},
		{"upper case, of a fixed column", "bc", "900150983CD24FB0D6963F7D28E17F72    ", "a"},
		{"sha256 in base64", "abc", "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", ""},
		{"sha1 in base64", "abc", "qZk+NkcGgWq6PiVxeFDCbJzQ2J0", ""},
		{"md5 in base64", "abc", "kAFQmDzST7DWlj99KOF/cg==", ""},
	}
	// Apart, as everything else would be brought up to its work.
	ours, others := foreign(t, everyForm[0]), foreign(t, everyForm[1:]...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := others
			if tt.name == auth.Argon2id {
				f = ours
			}
			salts := map[string]string{"SALT": tt.salt}
			for password, want := range map[string]bool{tt.password: true, "x" + tt.password: false, "": false, tt.password[1:]: false} {
				got, err := f.Verify(t.Context(), password, tt.stored, salts)
				require.NoError(t, err)
				require.Equal(t, want, got, password)
			}
			got, err := f.Verify(t.Context(), tt.password, tt.stored[:3]+swap(tt.stored[3:]), salts)
			require.True(t, err != nil || !got, "a hash that differs in one character")
		})
	}
}

// swap exchanges two characters next to each other, late in the hash.
func swap(s string) string {
	b := []byte(s)
	for i := len(b) - 8; i > 0; i-- {
		if b[i] != b[i-1] {
			b[i], b[i-1] = b[i-1], b[i]
			break
		}
	}
	return string(b)
}

func TestSchemesOrderOfSaltAndPassword(t *testing.T) {
	const abc = "900150983cd24fb0d6963f7d28e17f72"
	tests := []struct {
		name           string
		hash           auth.ForeignHash
		password, salt string
		want           bool
	}{
		{"salt first", auth.ForeignHash{Salt: "S"}, "bc", "a", true},
		{"salt first, and is not", auth.ForeignHash{Salt: "S"}, "ab", "c", false},
		{"password first", auth.ForeignHash{Salt: "S", PasswordSalt: true}, "ab", "c", true},
		{"password first, and is not", auth.ForeignHash{Salt: "S", PasswordSalt: true}, "bc", "a", false},
		{"no salt for this user", auth.ForeignHash{Salt: "S"}, "abc", "", true},
		{"no salt at all", auth.ForeignHash{}, "abc", "ignored", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.hash.Algorithm = auth.MD5
			got, err := foreign(t, tt.hash).Verify(t.Context(), tt.password, abc, map[string]string{"S": tt.salt})
			require.NoError(t, err)
			require.Equal(t, tt.want, got)
		})
	}
}

// TestSchemesRefuseHashesItCannotAfford would take hours otherwise.
func TestSchemesRefuseHashesItCannotAfford(t *testing.T) {
	rest := func(n int) string { return strings.Repeat("a", n) }
	tests := []struct{ name, stored string }{
		{"plain text", "geheim"},
		{"another algorithm", "$y$j9T$F5Jx5fExrKuPp53xLKQ..1$X3DX6M94c7o.9agCG9G317fhZg9SqC.5i5rd.RhAtQ7"},
		{"bcrypt of cost 31", "$2a$31$" + rest(53)},
		{"bcrypt of cost 15", "$2a$15$" + rest(53)},
		{"bcrypt of cost 99", "$2a$99$" + rest(53)},
		{"bcrypt that is wrong on purpose", "$2x$05$" + rest(53)},
		{"bcrypt, too long", "$2a$05$" + rest(54)},
		{"bcrypt, too short", "$2a$05$" + rest(52)},
		{"sha512crypt of most rounds", "$6$rounds=999999999$salt$" + rest(86)},
		{"sha512crypt of too many", "$6$rounds=1000001$salt$" + rest(86)},
		{"sha512crypt of too few", "$6$rounds=999$salt$" + rest(86)},
		{"sha512crypt of no number", "$6$rounds=99999999999999999999$salt$" + rest(86)},
		{"sha512crypt below zero", "$6$rounds=-5$salt$" + rest(86)},
		{"sha512crypt, too short", "$6$salt$" + rest(85)},
		{"sha512crypt, long salt", "$6$saltsaltsaltsaltsalt$" + rest(86)},
		{"sha256crypt of most rounds", "$5$rounds=999999999$salt$" + rest(43)},
		{"md5crypt, no salt", "$1$" + rest(22)},
		{"phpass of 2^30", "$P$S12345678" + rest(22)},
		{"phpass of no number", "$P$!12345678" + rest(22)},
		{"phpass, too short", "$P$9"},
		{"argon2id of all memory", "$argon2id$v=19$m=4294967295,t=2,p=1$bm8gdXNlciwgbm8gc2FsdA$bm8gdXNlciwgbm8gcGFzc3dvcmQgaGFzIHRoaXMga2U"},
		{"half a digest", rest(16)},
	}
	f := foreign(t, everyForm...)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ok, err := f.Verify(t.Context(), "geheim", tt.stored, map[string]string{"SALT": "zout"})
			require.Error(t, err)
			require.False(t, ok)
			require.NotContains(t, err.Error(), tt.stored)
			require.NotContains(t, err.Error(), "aaaa")
		})
	}
	_, err := f.Verify(t.Context(), "geheim", "900150983cd24fb0d6963f7d28e17f72", nil)
	require.ErrorIs(t, err, auth.ErrStoredHash)
	require.ErrorContains(t, err, "auth: no column SALT with the salt of the password hash")
}

func TestSchemesKnowLockedAccounts(t *testing.T) {
	f := foreign(t, auth.ForeignHash{Algorithm: auth.SHA512Crypt}, auth.ForeignHash{Algorithm: auth.PHPass})
	for _, stored := range []string{"", "   ", "!", "!!", "*", "*LK*", "*0", "!$1$28772684$iEwNOgGugqO9.bIz5sk8k/"} {
		got, err := f.Verify(t.Context(), "hashcat", stored, nil)
		require.NoError(t, err, stored)
		require.False(t, got, stored)
	}
}

func TestSchemesReadOnlyWhatIsConfigured(t *testing.T) {
	_, err := foreign(t, auth.ForeignHash{Algorithm: auth.Bcrypt, Cost: 5}).Verify(t.Context(), "hashcat", "$1$28772684$iEwNOgGugqO9.bIz5sk8k/", nil)
	require.ErrorIs(t, err, auth.ErrStoredHash)
	require.ErrorContains(t, err, "auth: stored password hash has the form of none that are configured")

	h := auth.NewHasher()
	ours, err := h.Hash(t.Context(), "geheim")
	require.NoError(t, err)
	got, err := foreign(t).Verify(t.Context(), "geheim", ours, nil)
	require.NoError(t, err)
	require.True(t, got, "our own where nothing is said")
}

func TestNewForeignHashesRefuses(t *testing.T) {
	tests := []struct {
		name string
		list []auth.ForeignHash
		want string
	}{
		{"what it does not know", []auth.ForeignHash{{Algorithm: "des"}}, `auth: password hash "des" is not known`},
		{"twice", []auth.ForeignHash{{Algorithm: auth.Bcrypt}, {Algorithm: auth.Bcrypt}}, "auth: password hash bcrypt is given twice: stored hashes would not tell which"},
		{"the same in another order", []auth.ForeignHash{{Algorithm: auth.MD5}, {Algorithm: auth.MD5, PasswordSalt: true}}, "auth: password hash md5 in hex is given twice: stored hashes would not tell which"},
		{"a salt of its own", []auth.ForeignHash{{Algorithm: auth.Bcrypt, Salt: "S"}}, "auth: password hash bcrypt has its salt and encoding in itself"},
		{"a cost of none", []auth.ForeignHash{{Algorithm: auth.MD5, Cost: 5}}, "auth: password hash md5 has no cost"},
		{"a fixed cost", []auth.ForeignHash{{Algorithm: auth.MD5Crypt, Cost: 5}}, "auth: cost 5 of password hash md5crypt: must be from 0 to 0"},
		{"too dear", []auth.ForeignHash{{Algorithm: auth.Bcrypt, Cost: 15}}, "auth: cost 15 of password hash bcrypt: must be from 4 to 14"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := auth.NewForeignHashes(auth.NewHasher(), tt.list)
			require.EqualError(t, err, tt.want)
		})
	}
}

func TestSchemesShareThePlacesOfTheHasher(t *testing.T) {
	h := auth.NewHasher()
	f, err := auth.NewForeignHashes(h, []auth.ForeignHash{{Algorithm: auth.MD5}})
	require.NoError(t, err)
	leave := auth.FillHasher(h)
	defer leave()
	ctx, cancel := context.WithCancel(t.Context())
	refused := make(chan error)
	go func() {
		_, err := f.Verify(ctx, "abc", "900150983cd24fb0d6963f7d28e17f72", nil)
		refused <- err
	}()
	cancel()
	require.ErrorIs(t, <-refused, context.Canceled)
}

// Unknown users and those with a cheap hash cost what one with the dearest does.
// As with our own hashes, only work left out is looked for.
func TestSchemesSpendTheSameOnEveryone(t *testing.T) {
	const secret = "$2a$08$" + "CCCCCCCCCCCCCCCCCCCCC." + "E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"
	f := foreign(t, auth.ForeignHash{Algorithm: auth.MD5}, auth.ForeignHash{Algorithm: auth.Bcrypt, Cost: 8}, auth.ForeignHash{Algorithm: auth.PHPass, Cost: 7})
	spent := func(password, stored string) time.Duration {
		best := time.Hour
		for range 3 {
			best = min(best, used(t, func() {
				_, err := f.Verify(t.Context(), password, stored, nil)
				require.NoError(t, err)
			}))
		}
		return best
	}
	want := spent("geheim", secret)
	require.Greater(t, want, time.Millisecond)
	for _, stored := range []string{"", "*", "900150983cd24fb0d6963f7d28e17f72", "$P$5nobodys." + strings.Repeat(".", 22)} {
		require.Greater(t, spent("geheim", stored), want/4, stored)
	}
	require.Greater(t, spent("abc", "900150983cd24fb0d6963f7d28e17f72"), want/4, "also where it matches")
	require.Greater(t, spent("", secret), want/4)
	require.Greater(t, spent(strings.Repeat("x", 5000), secret), want/4)
}

// Who has a hash that cannot be used is no user for whoever asks, and one whose
// hash is dearer than usual raises what unknown users cost.
func TestSchemesTellNoUserByTime(t *testing.T) {
	f := foreign(t, auth.ForeignHash{Algorithm: auth.Bcrypt, Cost: 4})
	spent := func(stored string) (took time.Duration, err error) {
		took = used(t, func() {
			var ok bool
			ok, err = f.Verify(t.Context(), "geheim", stored, nil)
			require.False(t, ok)
		})
		return took, err
	}
	dear := "$2a$10$" + strings.Repeat(".", 53)
	want := time.Hour
	for range 3 { // the least, as the others may only take longer
		took, err := spent(dear)
		require.NoError(t, err)
		want = min(want, took)
	}
	took, err := spent("")
	require.NoError(t, err)
	require.Greater(t, took, want/4, "unknown")
	for _, stored := range []string{"plain text", "$2a$31$" + strings.Repeat(".", 53), "$2a$10$"} {
		took, err = spent(stored)
		require.ErrorIs(t, err, auth.ErrStoredHash)
		require.NotContains(t, err.Error(), "plain text")
		require.Greater(t, took, want/4, stored)
	}
}

// FuzzForeignHash reads any stored hash: no panic, and nothing that takes long.
func FuzzForeignHash(f *testing.F) {
	for _, seed := range []string{
		"", "!", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW", "$1$28772684$iEwNOgGugqO9.bIz5sk8k/",
		"$6$rounds=1000$saltstring$svn8UoSVapNtMuq1ukKS4tPQd8iKwSMHWjl/O817G3uBnIFNjnQJuesI68u4OTLiBFdcbYEdFCoEOfaS35inz1",
		"$P$5IQRaTwmfeRo7ud9Fh4E2PdI0S3r.L0", "900150983cd24fb0d6963f7d28e17f72", "kAFQmDzST7DWlj99KOF/cg==",
	} {
		f.Add("U*U", seed)
	}
	hashes := foreign(f, everyForm[2:]...) // without argon2id, whose time is memory's, and bcrypt
	f.Fuzz(func(t *testing.T, password, stored string) {
		if strings.Contains(stored, "rounds=") && !strings.Contains(stored, "rounds=1000$") {
			t.Skip() // affordable, but not a million times
		}
		ok, err := hashes.Verify(t.Context(), password, stored, map[string]string{"SALT": "a"})
		if err != nil && ok {
			t.Fatal("both true and an error")
		}
	})
}
