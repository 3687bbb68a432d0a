package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
)

func TestMemory(t *testing.T) {
	authtest.SessionsInBubble(t, func(t *testing.T, clock func() time.Time) auth.Sessions {
		m := auth.NewMemory(clock)
		t.Cleanup(func() { require.NoError(t, m.Close()) })
		return m
	})
}

func TestMemoryLetsGoOfExpiredSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := auth.NewMemory(time.Now)
		defer m.Close()
		now := time.Now()
		for i := range byte(10) {
			require.NoError(t, m.Put(t.Context(), &auth.Session{Token: auth.TokenHash{i}, Issued: now, Expires: now.Add(time.Minute)}))
		}
		require.NoError(t, m.EndUser(t.Context(), "anna", auth.CauseNewPassword))
		require.Equal(t, [3]int{10, 1, 0}, auth.MemorySize(m))
		time.Sleep(2*time.Minute + time.Second)
		synctest.Wait()
		require.Equal(t, [3]int{0, 1, 10}, auth.MemorySize(m), "what is told of them takes less")
		require.Zero(t, m.Count())
		time.Sleep(auth.MaxTTL)
		synctest.Wait()
		require.Equal(t, [3]int{0, 0, 0}, auth.MemorySize(m))
	})
}

// hot is what every request does first: token to session to key.
func hot(tb testing.TB) func() bool {
	clock := time.Now
	apiKey := "11111111-1111-4111-8111-111111111111"
	token := uuid.Must(uuid.NewRandomFromReader(rand.Reader)).String()
	hash, ok := auth.HashToken(token)
	require.True(tb, ok)
	m := auth.NewMemory(clock)
	tb.Cleanup(func() { _ = m.Close() })
	keyHash := sha256.Sum256([]byte(apiKey))
	ring, err := auth.NewKeyring([]auth.Key{{
		Name: "webshop", Hashes: []auth.KeyHash{{Hash: keyHash}}, Allowed: []bool{true},
		Bounds: auth.Bounds{Rate: auth.Rate{PerSecond: 1e9, Burst: 1e9}},
	}}, nil)
	require.NoError(tb, err)
	limits := auth.NewMemoryLimits(time.UTC)
	now := clock()
	require.NoError(tb, m.Put(context.Background(), &auth.Session{Token: hash, Key: keyHash, Issued: now, Expires: now.Add(auth.MaxTTL)}))
	return func() bool {
		hash, ok := auth.HashToken(token)
		if !ok {
			return false
		}
		s, err := m.Get(context.Background(), hash)
		if err != nil {
			return false
		}
		now := clock()
		key := ring.ByHash(s.Key, now)
		if key == nil || !key.May(0) {
			return false
		}
		standing, err := limits.Take(context.Background(), key, 1, now)
		return err == nil && standing.Refused == auth.NoBound && ring.Find(apiKey, now) == key
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	run := hot(t)
	require.True(t, run())
	require.Zero(t, testing.AllocsPerRun(1000, func() { run() }))
}
