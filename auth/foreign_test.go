package auth_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/rig/must"
)

func foreign(t testing.TB, list ...auth.ForeignHash) *auth.ForeignHashes {
	t.Helper()
	return must.Have(auth.NewForeignHashes(auth.NewHasher(), list))(t)
}

// everyForm are all the algorithms that can stand beside each other.
var everyForm = []auth.ForeignHash{
	{Algorithm: auth.Argon2id}, {Algorithm: auth.Bcrypt, Cost: 5}, {Algorithm: auth.SHA512Crypt, Cost: 1000},
	{Algorithm: auth.SHA256Crypt, Cost: 1000}, {Algorithm: auth.PHPass, Cost: 7}, {Algorithm: auth.MD5Crypt},
	{Algorithm: auth.SHA256, Salt: "SALT"}, {Algorithm: auth.SHA1, Salt: "SALT"}, {Algorithm: auth.MD5, Salt: "SALT"},
	{Algorithm: auth.SHA256, Base64: true}, {Algorithm: auth.SHA1, Base64: true}, {Algorithm: auth.MD5, Base64: true},
}

// TestForms reads the stored hashes of testdata/hashes.tsv. What cannot be afforded would take hours otherwise.
func TestForms(t *testing.T) {
	text, err := os.ReadFile("testdata/hashes.tsv")
	require.NoError(t, err)
	// Argon2id apart, as everything else would be brought up to its work.
	ours, others, every := foreign(t, everyForm[0]), foreign(t, everyForm[1:]...), foreign(t, everyForm...)
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		c := append(strings.Split(strings.TrimSuffix(line, "\n"), "\t"), "")
		stored, password, salts := unquoted(c[2]), unquoted(c[3]), map[string]string{"SALT": c[4]}
		t.Run(c[1], func(t *testing.T) {
			switch c[0] {
			case "yes":
				f := others
				if c[1] == auth.Argon2id {
					f = ours
				}
				for password, want := range map[string]bool{password: true, "x" + password: false, "": false, password[1:]: false} {
					got := must.Have(f.Verify(t.Context(), password, stored, salts))(t)
					require.Equal(t, want, got, password)
				}
				got, err := f.Verify(t.Context(), password, stored[:3]+swap(stored[3:]), salts)
				require.True(t, err != nil || !got, "a hash that differs in one character")
			case "unusable":
				ok, err := every.Verify(t.Context(), password, stored, salts)
				require.ErrorIs(t, err, auth.ErrStoredHash)
				require.False(t, ok || strings.Contains(err.Error(), stored) || strings.Contains(err.Error(), "aaaa"))
			case "locked":
				ok := must.Have(others.Verify(t.Context(), password, stored, salts))(t)
				require.False(t, ok)
			}
		})
	}
	_, err = every.Verify(t.Context(), "geheim", "900150983cd24fb0d6963f7d28e17f72", nil)
	require.ErrorIs(t, err, auth.ErrStoredHash)
	require.ErrorContains(t, err, "auth: no column SALT with the salt of the password hash")
}

func unquoted(s string) string {
	if text, err := strconv.Unquote(s); err == nil {
		return text
	}
	return s
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
			got := must.Have(foreign(t, tt.hash).Verify(t.Context(), tt.password, abc, map[string]string{"S": tt.salt}))(t)
			require.Equal(t, tt.want, got)
		})
	}
}

func TestSchemesReadOnlyWhatIsConfigured(t *testing.T) {
	_, err := foreign(t, auth.ForeignHash{Algorithm: auth.Bcrypt, Cost: 5}).Verify(t.Context(), "hashcat", "$1$28772684$iEwNOgGugqO9.bIz5sk8k/", nil)
	require.ErrorIs(t, err, auth.ErrStoredHash)
	require.ErrorContains(t, err, "auth: stored password hash has the form of none that are configured")

	h := auth.NewHasher()
	ours := must.Have(h.Hash(t.Context(), "geheim"))(t)
	got := must.Have(foreign(t).Verify(t.Context(), "geheim", ours, nil))(t)
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
			require.EqualError(t, must.Fail(auth.NewForeignHashes(auth.NewHasher(), tt.list)), tt.want)
		})
	}
}

// TestEverybodyCostsTheSame: unknown users, those with a cheap hash and those with one that cannot be
// used cost what one with the dearest does, of those that were configured or seen. What is counted is the work.
func TestEverybodyCostsTheSame(t *testing.T) {
	const cheap, rest = "900150983cd24fb0d6963f7d28e17f72", "....................................................."
	f := foreign(t, auth.ForeignHash{Algorithm: auth.MD5}, auth.ForeignHash{Algorithm: auth.Bcrypt, Cost: 4}, auth.ForeignHash{Algorithm: auth.PHPass, Cost: 7})
	done := auth.CountWork(f)
	spent := func(password, stored string) (work time.Duration, err error) {
		before := *done
		_, err = f.Verify(t.Context(), password, stored, nil)
		return *done - before, err
	}
	configured := must.Have(spent("geheim", ""))(t)
	require.Positive(t, configured)
	want := must.Have(spent("geheim", "$2a$08$"+rest))(t)
	require.Equal(t, configured<<4, want, "of four more rounds of doubling")
	for _, stored := range []string{"", "*", cheap, "$P$5nobodys." + rest[:22], "$2a$08$" + rest} {
		for _, password := range []string{"geheim", "abc", "", strings.Repeat("x", 5000)} {
			work := must.Have(spent(password, stored))(t)
			require.InDelta(t, want, work, float64(want/2), "%q of %.5s", stored, password)
		}
	}
	for _, stored := range []string{"plain text", "$2a$31$" + rest, "$2a$08$"} {
		work, err := spent("geheim", stored)
		require.ErrorIs(t, err, auth.ErrStoredHash)
		require.NotContains(t, err.Error(), "plain text")
		require.Equal(t, want, work, stored)
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
