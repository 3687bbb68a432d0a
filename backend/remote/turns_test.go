package remote

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/keep"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
)

// TestSharedRecordsAreHeldForAll: a record that all clients share is one for all.
func TestSharedRecordsAreHeldForAll(t *testing.T) {
	a := newAutolijn(t, remotetest.Options{})
	shared := 0
	for _, r := range a.model.Resources {
		one := a.store.heldBy(lijnNoord, r, 7) == a.store.heldBy(lijnZuid, r, 7)
		require.Equal(t, a.store.Sheet.Resource(r.Name).Client == "", one, r.Name)
		if one {
			shared++
		}
	}
	require.NotZero(t, shared)
}

// TestGatewaysTakeTurns: of many writes with one If-Match, over two gateways that share
// their id store before a service without versions, exactly one succeeds.
func TestGatewaysTakeTurns(t *testing.T) {
	a := newAutolijn(t, remotetest.Options{})
	dsn := sqltest.Postgres(t)
	var clients []*backend.Client
	var stores []*Store
	for range 2 {
		db, err := sqlrecord.OpenPostgres(bg(), dsn, sqlrecord.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		k, err := keep.Open(bg(), db, keep.Options{Now: time.Now})
		require.NoError(t, err)
		s := open(t, Options{Sheet: a.store.Sheet, Keep: k})
		stores, clients = append(stores, s), append(clients, front(t, s))
	}
	for round := range 3 {
		require.Equal(t, []int{1, 15}, updatedAtOnce(t, 16, clients...), "round %d", round)
	}
	for _, s := range stores {
		require.Empty(t, s.holds.held)
	}
}
