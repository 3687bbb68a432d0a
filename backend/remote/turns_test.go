package remote

import (
	"context"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestGatewaysTakeTurns: of many writes with one If-Match, over two gateways that share
// their id store before a service without versions, exactly one succeeds.
func TestGatewaysTakeTurns(t *testing.T) {
	server := httptest.NewServer(remotetest.NewRack())
	t.Cleanup(server.Close)
	file := t.TempDir() + "/sheet.yaml"
	require.NoError(t, os.WriteFile(file, []byte(strings.NewReplacer("SINCE", remotetest.WithSince, "${URL}", "${SERVICE_URL}").Replace(remotetest.RackSheet)), 0o600))
	sh, dsn := loadSheetFile(t, file, server.URL), sqltest.Postgres(t)
	var clients []*backend.Client
	var stores []*Driver
	for range 2 {
		db := must.Have(sqlrecord.OpenPostgres(bg(), dsn, sqlrecord.Options{}))(t)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		k := must.Have(idstore.Open(bg(), db, idstore.Options{Now: time.Now}))(t)
		d := open(t, Options{Sheet: sh, IDStore: k, DB: db, Now: time.Now})
		stores, clients = append(stores, d), append(clients, front(t, d))
	}
	for round := range 3 {
		require.Equal(t, []int{1, 15}, updatedAtOnce(t, 16, clients...), "round %d", round)
	}
	for _, s := range stores {
		require.Zero(t, s.holds.count())
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
	s := &Driver{core: &core{Options: Options{IDStore: k}}}
	gone, cancel := context.WithCancel(bg())
	require.NoError(t, s.Write(gone, func(tx backend.Tx) error {
		for id := range int32(5) {
			require.NoError(t, tx.(*writing).hold(gone, heldRecord{1, "order", id}))
		}
		cancel()
		return nil
	}))
	require.Len(t, k.until, 1, "one moment for all, and not that of the client, who has gone")
	require.NotContains(t, k.until, time.Time{})
	require.Zero(t, s.holds.count())
}
