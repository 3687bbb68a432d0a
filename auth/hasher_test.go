package auth_test

import (
	"context"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

func TestHasher(t *testing.T) {
	h := auth.NewHasher()
	longest := strings.Repeat("x", auth.MaxPassword)
	secret, err := h.Hash(t.Context(), "geheim")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(secret, "$argon2id$v=19$m=19456,t=2,p=1$"), secret)
	long, err := h.Hash(t.Context(), longest)
	require.NoError(t, err)

	tests := []struct {
		name, password, encoded string
		want                    bool
	}{
		{"the password", "geheim", secret, true},
		{"another", "Geheim", secret, false},
		{"none", "", secret, false},
		{"the longest", longest, long, true},
		{"a longer one with the same start", longest + "x", long, false},
		{"of no user", "geheim", "", false},
		{"of no user, none", "", "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := h.Verify(t.Context(), test.password, test.encoded)
			require.NoError(t, err)
			require.Equal(t, test.want, got)
		})
	}
	for _, password := range []string{"", longest + "x"} {
		_, err := h.Hash(t.Context(), password)
		require.ErrorIs(t, err, auth.ErrPasswordLength)
	}
}

func TestHasherRefusesHashesItCannotAfford(t *testing.T) {
	const rest = "$bm8gdXNlciwgbm8gc2FsdA$bm8gdXNlciwgbm8gcGFzc3dvcmQgaGFzIHRoaXMga2U"
	tests := []struct{ name, encoded string }{
		{"plain text", "geheim"},
		{"bcrypt", "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"},
		{"all memory", "$argon2id$v=19$m=4294967295,t=2,p=1" + rest},
		{"no pass", "$argon2id$v=19$m=19456,t=0,p=1" + rest},
		{"no lane", "$argon2id$v=19$m=19456,t=2,p=0" + rest},
		{"no key", "$argon2id$v=19$m=19456,t=2,p=1$bm8gdXNlciwgbm8gc2FsdA$"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			ok, err := auth.NewHasher().Verify(t.Context(), "geheim", test.encoded)
			require.Error(t, err)
			require.False(t, ok)
			require.NotContains(t, err.Error(), test.encoded)
		})
	}
}

func TestHasherWaitsForRoomAsLongAsTheContext(t *testing.T) {
	h := auth.NewHasher()
	leave := auth.FillHasher(h)
	ctx, cancel := context.WithCancel(t.Context())
	refused := make(chan error)
	go func() {
		_, err := h.Verify(ctx, "geheim", "")
		refused <- err
	}()
	cancel()
	require.ErrorIs(t, <-refused, context.Canceled)

	admitted := make(chan error)
	go func() {
		_, err := h.Hash(t.Context(), "geheim")
		admitted <- err
	}()
	leave()
	require.NoError(t, <-admitted)
}

// used is the processor time of the process while f runs, so no test that asks for it is parallel:
// what f takes by the clock depends on what else the machine does.
func used(t *testing.T, f func()) time.Duration {
	t.Helper()
	now := func() time.Duration {
		var all syscall.Rusage
		require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &all))
		return time.Duration(all.Utime.Nano() + all.Stime.Nano())
	}
	before := now()
	f()
	return now() - before
}

// An unknown user has to cost what a known one costs. Only a missing hash
// computation is looked for (a factor of thousands), as no clock here is exact.
func TestHasherSpendsTheSameOnNoUser(t *testing.T) {
	h := auth.NewHasher()
	known, err := h.Hash(t.Context(), "geheim")
	require.NoError(t, err)
	spent := func(password, encoded string) time.Duration {
		best := time.Hour
		for range 3 {
			best = min(best, used(t, func() {
				_, err := h.Verify(t.Context(), password, encoded)
				require.NoError(t, err)
			}))
		}
		return best
	}
	want := spent("geheim", known)
	require.Greater(t, spent("geheim", ""), want/4)
	require.Greater(t, spent("", known), want/4)
	require.Greater(t, spent(strings.Repeat("x", 5000), known), want/4)
}
