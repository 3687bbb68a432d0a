package remote

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/idstore"
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
		k, err := idstore.Open(bg(), db, idstore.Options{Now: time.Now})
		require.NoError(t, err)
		s := open(t, Options{Sheet: a.store.Sheet, IDStore: k})
		stores, clients = append(stores, s), append(clients, front(t, s))
	}
	for round := range 3 {
		require.Equal(t, []int{1, 15}, updatedAtOnce(t, 16, clients...), "round %d", round)
	}
	for _, s := range stores {
		require.Empty(t, s.holds.held)
	}
}

// slowKeep notes until when whoever lets go of a record waits for it.
type slowKeep struct {
	IDStore
	until map[time.Time]int
}

func (k *slowKeep) Take(context.Context, string, int64, int32) (func(context.Context), error) {
	return func(ctx context.Context) {
		until, _ := ctx.Deadline()
		k.until[until]++
		if ctx.Err() != nil {
			k.until[time.Time{}]++
		}
	}, nil
}

// TestLettingGoIsBoundedAsAWhole: before, a write waited two seconds for each record that
// it held, one after the other, where the id store did not answer.
func TestLettingGoIsBoundedAsAWhole(t *testing.T) {
	k := &slowKeep{until: map[time.Time]int{}}
	s := &Store{core: &core{Options: Options{IDStore: k}}}
	gone, cancel := context.WithCancel(bg())
	require.NoError(t, s.Write(gone, func(tx backend.Tx) error {
		for id := range int32(5) {
			_, err := tx.(*transaction).hold(gone, heldRecord{1, "order", id})
			require.NoError(t, err)
		}
		cancel()
		return nil
	}))
	require.Len(t, k.until, 1, "one moment for all, and not that of the client, who has gone")
	require.NotContains(t, k.until, time.Time{})
	require.Empty(t, s.holds.held)
}
