package webhook_test

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// onResults runs a test on every place that results are kept in, which is empty.
func onResults(t *testing.T, f func(t *testing.T, r webhook.Results)) {
	t.Parallel()
	t.Run("folder", func(t *testing.T) { f(t, openFiles(t, t.TempDir())) })
	t.Run("postgres", func(t *testing.T) {
		r := must.Have(postgresEngine(t).open(t).NewResults())(t)
		f(t, r)
	})
}

func write(t *testing.T, r webhook.Results, name string, content []byte) {
	t.Helper()
	d := must.Have(r.Create(t.Context(), name))(t)
	defer d.Discard()
	for piece := range bytes.Lines(content) { // of every length
		n := must.Have(d.Write(piece))(t)
		require.Len(t, piece, n)
	}
	require.NoError(t, d.Keep())
}

func random(size int) []byte {
	content := make([]byte, size)
	for i := range content {
		content[i] = byte(rand.Uint32())
	}
	return content
}

func TestResultsAreReadAtAnyPlace(t *testing.T) {
	onResults(t, func(t *testing.T, r webhook.Results) {
		for _, size := range []int{0, 1, 1000, 256 << 10, 700_001} {
			content := random(size)
			write(t, r, "job.1", content)
			file := must.Have(r.Open(t.Context(), "job.1"))(t)
			got := must.Have(io.ReadAll(io.NewSectionReader(file, 0, int64(size))))(t)
			require.True(t, bytes.Equal(content, got), size)
			for range 50 {
				from := rand.IntN(size + 1)
				to := from + rand.IntN(size-from+1)
				part := make([]byte, to-from)
				n := must.Have(file.ReadAt(part, int64(from)))(t)
				require.True(t, bytes.Equal(content[from:to], part[:n]), "%d to %d of %d", from, to, size)
			}
			n, err := file.ReadAt(make([]byte, 2), max(int64(size)-1, 0))
			if size > 0 {
				require.Equal(t, 1, n)
			}
			require.Error(t, err, "past the end")
			require.NoError(t, file.Close())
			names := must.Have(r.Names(t.Context()))(t)
			require.Equal(t, []string{"job.1"}, names, "the one before gave way")
		}
	})
}

func TestResultsThatAreDropped(t *testing.T) {
	onResults(t, func(t *testing.T, r webhook.Results) {
		write(t, r, "one.1", random(1000))
		d := must.Have(r.Create(t.Context(), "two.1"))(t)
		must.Have(d.Write(random(700_000)))(t)
		d.Discard()
		names := must.Have(r.Names(t.Context()))(t)
		require.Equal(t, []string{"one.1"}, names)
		require.NoError(t, r.Remove(t.Context(), "one.1"))
		require.NoError(t, r.Remove(t.Context(), "one.1"), "what is not there is no error")
		require.Error(t, must.Fail(r.Open(t.Context(), "one.1")))
	})
}

// TestResultThatAnotherRemoves is not written on.
func TestResultThatAnotherRemoves(t *testing.T) {
	t.Parallel()
	e := postgresEngine(t)
	one := must.Have(e.open(t).NewResults())(t)
	other := must.Have(e.open(t).NewResults())(t)
	d := must.Have(one.Create(t.Context(), "job.2"))(t)
	must.Have(d.Write(random(300_000)))(t)
	require.NoError(t, other.Remove(t.Context(), "job.2"), "the job was taken over")
	require.ErrorContains(t, must.Fail(d.Write(random(300_000))), "removed while it was written")
}

// TestFolderOfResults keeps what is no result, and takes no folder of another.
func TestFolderOfResults(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "results")
	require.NoError(t, os.Mkdir(folder, 0o700))
	for _, name := range []string{"precious.txt", "their.part", "job.1", "job.2.77.part"} {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), nil, 0o600))
	}
	files := must.Have(webhook.OpenFiles(folder))(t)
	names := must.Have(files.Names(t.Context()))(t)
	require.Equal(t, []string{"job.1"}, names)
	left := must.Have(filepath.Glob(folder + "/*"))(t)
	require.Len(t, left, 3, "but what was being written")
	require.NoError(t, os.Symlink(folder, folder+"-2"))
	require.ErrorContains(t, must.Fail(webhook.OpenFiles(folder+"-2")), "is a link, expected a folder")
}

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
	alone(t, func(t *testing.T, e engine) {
		rs, c, store := newReceivers(t), newClock(), e.open(t)
		to := rs.add(t, status(200))
		data := bytes.Repeat([]byte("frontdesk"), 8<<20/9)
		idle := start(t, c, store, rs.caller(t), func(cfg *webhook.Config) { cfg.Workers = 0 })
		promise := func(data []byte) string {
			return must.Have(idle.Accept(t.Context(), owner(1), to, webhook.Work{Kind: "echo", Data: data}))(t)
		}
		large, small := promise(data), promise([]byte("hello"))
		same := func(j webhook.Job) (webhook.Job, *webhook.Try, error) { return j, nil, nil }
		for name, look := range map[string]func(id string){
			"get": func(id string) { require.NotEmpty(t, store.job(t, id).ID) },
			"change": func(id string) {
				must.Have(store.Change(t.Context(), id, same))(t)
			},
			"list": func(string) {
				all := must.Have(store.List(t.Context(), webhook.Filter{}))(t)
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
		result := must.Have(p.Results.Open(t.Context(), j.Result.File))(t)
		content := must.Have(io.ReadAll(io.NewSectionReader(result, 0, 1<<40)))(t)
		require.NoError(t, result.Close())
		require.True(t, bytes.Equal(data, content))
		require.Zero(t, dataKept(t, e), "it is needed no more")
	})
}

// dataKept counts the jobs whose data are kept beside them.
func dataKept(t *testing.T, e engine) (n int64) {
	t.Helper()
	db := must.Have(e.connect())(t)
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
	t.Parallel()
	p, _, store, to := working(t, sqliteEngine(t), status(200), blobs, func(cfg *webhook.Config) { cfg.Workers = 0 })
	promise := func(client int64) error {
		_, err := p.Accept(t.Context(), owner(client), to, webhook.Work{Kind: "echo", Data: make([]byte, space/2)})
		return err
	}
	require.NoError(t, promise(1))
	store.until(t, func() bool { return taken(t, p)[0].Bytes == space/2+space/16 })
	require.ErrorIs(t, promise(1), webhook.ErrNoSpace)
}
