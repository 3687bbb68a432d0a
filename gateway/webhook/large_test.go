package webhook_test

import (
	"bytes"
	"io"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// allocated is how many bytes a look takes on average.
func allocated(look func()) uint64 {
	const times = 10
	var before, after runtime.MemStats
	look() // what is made once
	runtime.ReadMemStats(&before)
	for range times {
		look()
	}
	runtime.ReadMemStats(&after)
	return (after.TotalAlloc - before.TotalAlloc) / times
}

// TestLargeDataCostNothingToLookAt: the data of work, such as the body of a request, are read when
// the work begins, and by nothing else.
func TestLargeDataCostNothingToLookAt(t *testing.T) {
	onEngines(t, func(t *testing.T, e engine) {
		rs, c, store := newReceivers(t), newClock(), e.open(t)
		to := rs.add(t, status(200))
		data := bytes.Repeat([]byte("frontdesk"), 8<<20/9)
		idle := start(t, c, store, rs.caller(t), func(cfg *webhook.Config) { cfg.Workers = 0 })
		promise := func(data []byte) string {
			id, err := idle.Accept(t.Context(), owner(1), to, webhook.Work{Kind: "echo", Data: data})
			require.NoError(t, err)
			return id
		}
		large, small := promise(data), promise([]byte("hello"))
		same := func(j webhook.Job) (webhook.Job, *webhook.Try, error) { return j, nil, nil }
		for name, look := range map[string]func(id string){
			"get": func(id string) { require.NotEmpty(t, store.job(t, id).ID) },
			"change": func(id string) {
				_, err := store.Change(t.Context(), id, same)
				require.NoError(t, err)
			},
			"list": func(string) {
				all, err := store.List(t.Context(), webhook.Filter{})
				require.NoError(t, err)
				require.Len(t, all, 2)
			},
		} {
			require.Less(t, allocated(func() { look(large) }), 100<<10+2*allocated(func() { look(small) }), name)
		}
		require.NoError(t, store.Release(t.Context()))
		require.NoError(t, idle.Close())

		p := start(t, c, store, rs.caller(t))
		p.look()
		j := store.untilState(t, large, webhook.CalledBack)
		require.Empty(t, j.Failure)
		result, err := p.Results.Open(t.Context(), j.Result.File)
		require.NoError(t, err)
		content, err := io.ReadAll(io.NewSectionReader(result, 0, 1<<40))
		require.NoError(t, err)
		require.NoError(t, result.Close())
		require.True(t, bytes.Equal(data, content))
		require.Zero(t, dataKept(t, e), "it is needed no more")
	})
}

// dataKept counts the jobs whose data are kept beside them.
func dataKept(t *testing.T, e engine) (n int64) {
	t.Helper()
	db, err := e.connect()
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.Read(t.Context(), func(conn sqlrecord.Conn) error {
		return conn.Query(t.Context(), `SELECT count(*) FROM callback_work`, []sqlrecord.Column{{Type: mapping.Int4}}, nil, func(row []mapping.Value) error {
			n = row[0].Int()
			return nil
		})
	}))
	return n
}

// TestWaitingDataTakeRoom: what waits to be worked on counts as results do, so that a client
// fills no disk with requests.
func TestWaitingDataTakeRoom(t *testing.T) {
	rs, c, store := newReceivers(t), newClock(), sqliteEngine(t).open(t)
	to := rs.add(t, status(200))
	p := start(t, c, store, rs.caller(t), blobs, func(cfg *webhook.Config) { cfg.Workers = 0 })
	promise := func(client int64) error {
		_, err := p.Accept(t.Context(), owner(client), to, webhook.Work{Kind: "echo", Data: make([]byte, space/2)})
		return err
	}
	require.NoError(t, promise(1))
	store.until(t, func() bool { return taken(t, p)[0].Bytes == space/2+space/16 })
	require.ErrorIs(t, promise(1), webhook.ErrNoSpace)
}
