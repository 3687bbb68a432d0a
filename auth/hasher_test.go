package auth_test

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

func TestHasher(t *testing.T) {
	h := auth.NewHasher()
	longest := strings.Repeat("x", auth.MaxPassword)
	secret := must.Have(h.Hash(t.Context(), "geheim"))(t)
	require.True(t, strings.HasPrefix(secret, "$argon2id$v=19$m=19456,t=2,p=1$"), secret)
	long := must.Have(h.Hash(t.Context(), longest))(t)

	for name, c := range map[string]struct {
		password, encoded string
		want              bool
	}{
		"the password":                       {"geheim", secret, true},
		"another":                            {"Geheim", secret, false},
		"none":                               {"", secret, false},
		"the longest":                        {longest, long, true},
		"a longer one with the same start":   {longest + "x", long, false},
		"of no user":                         {"geheim", "", false},
		"of no user, none":                   {"", "", false},
		"far too long":                       {strings.Repeat("x", 5000), secret, false},
		"of no user, and longer than can be": {longest + "x", "", false},
	} {
		before := taken()
		got, err := h.Verify(t.Context(), c.password, c.encoded)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		require.Greater(t, taken()-before, uint64(19456<<10), "%s costs what the password does: its memory", name)
	}
	for _, password := range []string{"", longest + "x"} {
		require.ErrorIs(t, must.Fail(h.Hash(t.Context(), password)), auth.ErrPasswordLength)
	}
}

// taken is the memory that was taken from the heap so far.
func taken() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

func TestHasherRefusesHashesItCannotAfford(t *testing.T) {
	const rest = "$bm8gdXNlciwgbm8gc2FsdA$bm8gdXNlciwgbm8gcGFzc3dvcmQgaGFzIHRoaXMga2U"
	for name, encoded := range map[string]string{
		"plain text": "geheim",
		"bcrypt":     "$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy",
		"all memory": "$argon2id$v=19$m=4294967295,t=2,p=1" + rest,
		"no pass":    "$argon2id$v=19$m=19456,t=0,p=1" + rest,
		"no lane":    "$argon2id$v=19$m=19456,t=2,p=0" + rest,
		"no key":     "$argon2id$v=19$m=19456,t=2,p=1$bm8gdXNlciwgbm8gc2FsdA$",
	} {
		ok, err := auth.NewHasher().Verify(t.Context(), "geheim", encoded)
		require.Error(t, err, name)
		require.False(t, ok, name)
		require.NotContains(t, err.Error(), encoded)
	}
}

// TestHasherWaitsForRoomAsLongAsTheContext, for our own hashes and for those of others.
func TestHasherWaitsForRoomAsLongAsTheContext(t *testing.T) {
	h := auth.NewHasher()
	f := must.Have(auth.NewForeignHashes(h, []auth.ForeignHash{{Algorithm: auth.MD5}}))(t)
	leave := auth.FillHasher(h)
	for _, verify := range []func(context.Context) (bool, error){
		func(ctx context.Context) (bool, error) { return h.Verify(ctx, "geheim", "") },
		func(ctx context.Context) (bool, error) {
			return f.Verify(ctx, "abc", "900150983cd24fb0d6963f7d28e17f72", nil)
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		refused := make(chan error)
		go func() {
			_, err := verify(ctx)
			refused <- err
		}()
		cancel()
		require.ErrorIs(t, <-refused, context.Canceled)
	}
	admitted := make(chan error)
	go func() {
		_, err := h.Hash(t.Context(), "geheim")
		admitted <- err
	}()
	leave()
	require.NoError(t, <-admitted)
}

func TestMain(m *testing.M) { await.Run(m) }
