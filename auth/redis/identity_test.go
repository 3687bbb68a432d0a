package redis_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis"
	"frontdesk/auth/redis/redistest"
)

// TestIdentity is the same for all who share a database of a server, and another for
// those of another.
func TestIdentity(t *testing.T) {
	t.Parallel()
	server, other := redistest.Start(t), redistest.Start(t)
	identity := func(url string) string {
		t.Helper()
		client := open(t, redis.Options{URL: url})
		name, err := client.Identity(t.Context())
		require.NoError(t, err)
		require.NotEmpty(t, name)
		again, err := client.Identity(t.Context())
		require.NoError(t, err)
		require.Equal(t, name, again)
		return name
	}
	first := identity(server.URL())
	require.Equal(t, first, identity(server.URL()))
	require.NotEqual(t, first, identity(other.URL()))
	require.NotEqual(t, first, identity(server.URL()+"/1"))

	client := open(t, redis.Options{URL: server.URL()})
	server.Command("FLUSHALL")
	var asked sync.WaitGroup
	drawn := make([]string, 32)
	for n := range drawn {
		asked.Go(func() { drawn[n], _ = client.Identity(t.Context()) })
	}
	asked.Wait()
	slices.Sort(drawn)
	require.Len(t, slices.Compact(drawn), 1, "the first who asks draws it")
	require.NotEmpty(t, drawn[0])
	server.Command("FLUSHALL")
	server.Command("REPLICAOF", "127.0.0.1", "1")
	_, err := client.Identity(t.Context())
	require.Error(t, err, "a replica has none to give")
}
