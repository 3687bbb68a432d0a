package auth_test

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/cmd/frontdesk/rig/must"
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
	ring := must.Have(auth.NewKeyring([]auth.Key{{
		Name: "webshop", Hashes: []auth.KeyHash{{Hash: keyHash}}, Allowed: []bool{true},
		Bounds: auth.Bounds{Rate: auth.Rate{PerSecond: 1e9, Burst: 1e9}},
	}}, nil))(tb)
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

func TestMemoryLimits(t *testing.T) {
	authtest.Limits(t, func(_ *testing.T, zone *time.Location) auth.Limits { return auth.NewMemoryLimits(zone) })
}

// TestMemoryLimitsMidnight has clocks that are put forward and back at midnight.
func TestMemoryLimitsMidnight(t *testing.T) {
	for _, c := range []struct {
		zone, at string // local, before the change
		ends     string
	}{
		{"America/Sao_Paulo", "2018-11-03T12:00:00-03:00", "2018-11-04T01:00:00-02:00"},
		{"America/Sao_Paulo", "2018-02-17T12:00:00-02:00", "2018-02-18T00:00:00-03:00"}, // 23:00 comes twice
		{"Asia/Beirut", "2022-03-26T12:00:00+02:00", "2022-03-27T01:00:00+03:00"},
		{"UTC", "2026-02-28T12:00:00Z", "2026-03-01T00:00:00Z"},
	} {
		zone := must.Have(time.LoadLocation(c.zone))(t)
		now := must.Have(time.Parse(time.RFC3339, c.at))(t)
		ends := must.Have(time.Parse(time.RFC3339, c.ends))(t)
		m, key := auth.NewMemoryLimits(zone), &auth.Key{Name: "shop", Bounds: auth.Bounds{PerDay: 1}}
		s := must.Have(m.Take(t.Context(), key, 1, now))(t)
		require.Equal(t, ends.Sub(now), s.Rooms[auth.DayBound].More, c.at)
		for _, moment := range []struct {
			time.Time
			refused auth.Bound
		}{{ends.Add(-1), auth.DayBound}, {ends, auth.NoBound}} {
			s = must.Have(m.Take(t.Context(), key, 1, moment.Time))(t)
			require.Equal(t, moment.refused, s.Refused, "%s %s", c.at, moment.Time)
		}
	}
}

// TestMemoryLimitsLetsGo has clients come and go, and keys that are no longer
// configured.
func TestMemoryLimitsLetsGo(t *testing.T) {
	m := auth.NewMemoryLimits(time.UTC)
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	take := func(name string, b auth.Bounds, client int64) auth.Standing {
		return must.Have(m.Take(context.Background(), &auth.Key{Name: name, Bounds: b}, client, now))(t)
	}
	rate := auth.Bounds{Rate: auth.Rate{PerSecond: 1, Burst: 2}, Concurrent: 1}
	slot := take("running", rate, -1).Slot
	take("today", auth.Bounds{PerDay: 10}, 1)
	for n := range int64(20_000) { // a hundred at once are new
		if n%100 == 0 {
			now = now.Add(2 * time.Second)
		}
		b := rate
		b.Concurrent = 0
		take(fmt.Sprint("gone-", n), b, n)
	}
	require.Less(t, auth.LimitsSize(m), 1000)
	require.EqualValues(t, 8, take("today", auth.Bounds{PerDay: 10}, 1).Rooms[auth.DayBound].Left)
	require.Equal(t, auth.ConcurrentBound, take("running", rate, -1).Refused)
	m.Done(context.Background(), "running", -1, slot)
	require.Equal(t, auth.NoBound, take("running", rate, -1).Refused)
}

// everyBound is a key with all of them, none of which is ever reached.
func everyBound() *auth.Key {
	never := auth.Rate{PerSecond: 1e9, Burst: 1e9}
	return &auth.Key{Name: "shop", Bounds: auth.Bounds{Rate: never, Concurrent: 1e9, PerDay: 1e15}}
}

func TestMemoryLimitsDoesNotAllocate(t *testing.T) {
	m, key, now := auth.NewMemoryLimits(time.UTC), everyBound(), time.Now()
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		s, err := m.Take(context.Background(), key, 1, now)
		if err != nil || s.Refused != auth.NoBound {
			t.Fatal("refused")
		}
		m.Done(context.Background(), key.Name, 1, s.Slot)
	}))
}

func BenchmarkTake(b *testing.B) {
	m, key := auth.NewMemoryLimits(time.UTC), everyBound()
	b.ReportAllocs()
	for n := int64(0); b.Loop(); n++ {
		s, err := m.Take(context.Background(), key, n%100_000, time.Now())
		if err != nil || s.Refused != auth.NoBound {
			b.Fatal("refused")
		}
		m.Done(context.Background(), key.Name, n%100_000, s.Slot)
	}
}
