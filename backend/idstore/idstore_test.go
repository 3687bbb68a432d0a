package idstore_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/idstore"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// victim is the variable that makes this test binary a process to be killed: "ids" and the file
// that it works on, or "turn" and a DSN.
const victim = "FRONTDESK_KEEP_VICTIM"

func TestMain(m *testing.M) {
	switch what, where, _ := strings.Cut(os.Getenv(victim), " "); what {
	case "ids":
		beVictim(where)
	case "turn":
		beTurnVictim(where)
	}
	os.Exit(sqltest.Run(m))
}

// killed starts such a process, and kills it once it has told so much.
func killed(t *testing.T, what, where string, told int) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), victim+"="+what+" "+where)
	out := must.Have(cmd.StdoutPipe())(t)
	require.NoError(t, cmd.Start())
	for range told {
		var n int
		must.Have(fmt.Fscanln(out, &n))(t)
	}
	require.NoError(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// onDatabases runs f with a way to open the same database of each engine again and again.
func onDatabases(t *testing.T, f func(t *testing.T, open func() sqlrecord.DB)) {
	for name, open := range map[string]func(dsn string) (sqlrecord.DB, error){
		"sqlite": func(dsn string) (sqlrecord.DB, error) { return sqlrecord.OpenSQLite(dsn, sqlrecord.Options{}) },
		"postgres": func(dsn string) (sqlrecord.DB, error) {
			return sqlrecord.OpenPostgres(context.Background(), dsn, sqlrecord.Options{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dsn := filepath.Join(t.TempDir(), "keep.db")
			if name == "postgres" {
				dsn = sqltest.Postgres(t)
			}
			leaks := goleak.IgnoreCurrent()
			t.Cleanup(func() { await.Goroutines(leaks) })
			f(t, func() sqlrecord.DB {
				return must.Have(open(dsn))(t)
			})
		})
	}
}

// opener opens the same store again and again.
type opener func() (*idstore.Store, func())

func onEngines(t *testing.T, f func(t *testing.T, open opener)) {
	onDatabases(t, func(t *testing.T, open func() sqlrecord.DB) {
		f(t, func() (*idstore.Store, func()) {
			db := open()
			s := must.Have(idstore.Open(context.Background(), db, idstore.Options{Now: clock}))(t)
			return s, func() { require.NoError(t, db.Close()) }
		})
	})
}

// now is what the stores' clock says; tests that move it run alone.
var now = time.Date(2026, time.November, 21, 9, 0, 0, 0, time.UTC)

func clock() time.Time { return now }

func ref(resource string, client int64, key string) sheet.KeyRef {
	return sheet.KeyRef{Resource: resource, Client: client, Key: key}
}

// give is what a store answers for keys of one resource and client, in their order.
func give(t *testing.T, s *idstore.Store, resource string, client int64, keys ...string) (all []int32) {
	t.Helper()
	var refs []sheet.KeyRef
	for _, key := range keys {
		refs = append(refs, ref(resource, client, key))
	}
	ids := must.Have(s.IDs(t.Context(), refs))(t)
	for _, r := range refs {
		all = append(all, ids[r])
	}
	return all
}

// keysOf are the keys that a client finds of IDs of a resource; "none" where there is none.
func keysOf(t *testing.T, s *idstore.Store, client int64, resource string, ids ...int32) (all []string) {
	t.Helper()
	var refs []sheet.IDRef
	for _, n := range ids {
		refs = append(refs, sheet.IDRef{Resource: resource, ID: n})
	}
	keys := must.Have(s.Keys(t.Context(), auth.Client{ID: client}, refs))(t)
	for _, r := range refs {
		if key, found := keys[r]; found {
			all = append(all, key)
		} else {
			all = append(all, "none")
		}
	}
	return all
}

// nth is the nth ID of a store that was made now.
func nth(n int) int32 {
	return int32(now.Sub(time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC))/time.Second) + int32(n)
}

func TestIDsStayWhatTheyAre(t *testing.T) {
	onEngines(t, func(t *testing.T, open opener) {
		s, done := open()
		a, b := ref("order", 1, "A\x1f1"), ref("order", 1, "A\x1f2")
		elsewhere, contact := ref("order", 2, "A\x1f1"), ref("contact", 1, "A\x1f1")
		ids := must.Have(s.IDs(t.Context(), []sheet.KeyRef{a, b, a, elsewhere, contact}))(t)
		require.Equal(t, sheet.IDs{a: nth(1), b: nth(2), elsewhere: nth(3), contact: nth(1)}, ids)
		give(t, s, "country", 0, "NL")
		done()

		s, done = open()
		defer done()
		require.Equal(t, []int32{nth(4), nth(2)}, give(t, s, "order", 1, "", b.Key))
		require.Equal(t, []string{a.Key, b.Key, "none", "", "none"}, keysOf(t, s, 1, "order", nth(1), nth(2), nth(3), nth(4), nth(5)), "neither unknown IDs nor another client's")
		require.Equal(t, []string{"none"}, keysOf(t, s, 1, "vehicle", nth(1)))
		require.Equal(t, []string{"none", a.Key}, keysOf(t, s, 2, "order", nth(1), nth(3)))
		for client := range int64(3) {
			require.Equal(t, []string{"NL"}, keysOf(t, s, client, "country", nth(1)), "what is shared has one ID for all")
		}
	})
}

// A store that is made anew, or restored as it was, gives no record an ID that
// clients know as another's: every ID is above the seconds that had passed.
func TestNewIDsAreNoOldOnes(t *testing.T) {
	give := func(s *idstore.Store, keys ...string) []int32 { return give(t, s, "order", 1, keys...) }
	onEngines(t, func(t *testing.T, open opener) {
		defer func(was time.Time) { now = was }(now)
		s, done := open()
		defer done()
		first := nth(1)
		require.Equal(t, []int32{first, first + 1}, give(s, "a", "b"))
		now = now.Add(time.Hour)
		require.Equal(t, []int32{first + 3600, first + 3601, first}, give(s, "c", "d", "a"), "a restored store would give c another")
		now = now.Add(-2 * time.Hour)
		require.Equal(t, []int32{first + 3602}, give(s, "e"), "the clock was set back")
		now = time.Date(2250, time.January, 1, 0, 0, 0, 0, time.UTC)
		require.Equal(t, []int32{1<<30 + 1, 1<<30 + 2}, give(s, "f", "g"), "a wrong clock uses up half of them at most")
	})
}

// TestAnotherStore: a store is opened only where it is the one that is wanted, and is
// left alone otherwise.
func TestAnotherStore(t *testing.T) {
	onEngines(t, func(t *testing.T, open opener) {
		s, done := open()
		id := s.ID()
		require.NoError(t, uuid.Validate(id))
		done()
		s, done = open()
		defer done()
		require.Equal(t, id, s.ID())
	})
	db, err := sqlrecord.OpenSQLite(filepath.Join(t.TempDir(), "keep.db"), sqlrecord.Options{})
	require.NoError(t, err)
	defer db.Close()
	wanted := idstore.Options{Now: time.Now, ID: uuid.NewString()}
	require.ErrorIs(t, must.Fail(idstore.Open(t.Context(), db, wanted)), idstore.ErrOther)
	s := must.Have(idstore.Open(t.Context(), db, idstore.Options{Now: time.Now}))(t)
	_, err = idstore.Open(t.Context(), db, wanted)
	require.ErrorIs(t, err, idstore.ErrOther)
	require.ErrorContains(t, err, s.ID())
	wanted.ID = s.ID()
	must.Have(idstore.Open(t.Context(), db, wanted))(t)
}

// Two gateways with 16 callers each ask for overlapping keys: every key gets
// one ID, and no two keys the same.
func TestIDsTogether(t *testing.T) {
	onEngines(t, func(t *testing.T, open opener) {
		one, doneOne := open()
		defer doneOne()
		two, doneTwo := open()
		defer doneTwo()
		var mu sync.Mutex
		seen := map[sheet.KeyRef]int32{}
		var together sync.WaitGroup
		for n := range 32 {
			s := []*idstore.Store{one, two}[n%2]
			together.Go(func() {
				for k := range 20 {
					refs := []sheet.KeyRef{ref("order", 1, fmt.Sprint((n+k)%25)), ref("order", 1, fmt.Sprint((n*k)%25))}
					ids, err := s.IDs(context.Background(), refs)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for r, id := range ids {
						if seen[r] != 0 && seen[r] != id {
							t.Errorf("%v is %d and %d", r, seen[r], id)
						}
						seen[r] = id
					}
					mu.Unlock()
				}
			})
		}
		together.Wait()
		keys := map[int32]bool{}
		for _, id := range seen {
			keys[id] = true
		}
		require.Len(t, seen, 25)
		require.Len(t, keys, 25)
	})
}

// TestAnswers begins under keys, one after the other: what is under way is in use, and what is finished
// has its answer, for a day or as long as it is to be kept.
func TestAnswers(t *testing.T) {
	onEngines(t, func(t *testing.T, open opener) {
		defer func(was time.Time) { now = was }(now)
		ctx, mine, other := context.Background(), auth.Client{ID: 1}, auth.Client{ID: 2}
		sum, marks := [32]byte{1, 2, 3}, map[int64]int64{}
		s, done := open()
		begin := func(client auth.Client, key string) (*backend.StoredAnswer, bool) {
			memo, err := s.Recall(ctx, client, key)
			if inUse := mapping.Is(err, mapping.IdempotencyInUse); inUse || memo != nil {
				_, err = s.Begin(ctx, client, key)
				require.ErrorIs(t, err, backend.ErrStale)
				return memo, inUse
			}
			require.NoError(t, err)
			marks[client.ID] = must.Have(s.Begin(ctx, client, key))(t)
			return nil, false
		}
		memo, inUse := begin(mine, "k")
		require.Nil(t, memo)
		require.False(t, inUse)
		_, inUse = begin(mine, "k")
		require.True(t, inUse, "begun, not ended")
		_, inUse = begin(other, "k")
		require.False(t, inUse, "another client's key")
		require.NoError(t, s.Finish(ctx, mine, "k", marks[1], backend.StoredAnswer{Sum: sum, Answer: []byte("answer")}))
		require.NoError(t, s.Abandon(ctx, other, "k", marks[2]))
		done()

		s, done = open()
		defer done()
		memo, _ = begin(mine, "k")
		require.Equal(t, &backend.StoredAnswer{Sum: sum, Answer: []byte("answer")}, memo)
		require.NoError(t, s.Abandon(ctx, mine, "k", marks[1]), "what is finished is not abandoned")
		memo, _ = begin(mine, "k")
		require.NotNil(t, memo)
		memo, inUse = begin(other, "k")
		require.Nil(t, memo)
		require.False(t, inUse, "abandoned")

		now = now.Add(24*time.Hour - time.Second)
		memo, _ = begin(mine, "k")
		require.NotNil(t, memo)
		_, inUse = begin(other, "k")
		require.True(t, inUse)
		now = now.Add(time.Second)
		for _, client := range []auth.Client{mine, other} {
			memo, inUse = begin(client, "k")
			require.Nil(t, memo, "expired")
			require.False(t, inUse)
		}
		require.NoError(t, s.Finish(ctx, mine, "k", marks[1], backend.StoredAnswer{Sum: sum, Life: 90 * 24 * time.Hour}))
		now = now.Add(89 * 24 * time.Hour)
		memo, _ = begin(mine, "k")
		require.NotNil(t, memo, "kept for longer")
	})
}

// A process that is killed leaves the key in use, and every ID that it told of.
func TestKilled(t *testing.T) {
	const told = 25
	for range 5 {
		file := filepath.Join(t.TempDir(), "keep.db")
		killed(t, "ids", file, told)
		db, err := sqlrecord.OpenSQLite(file, sqlrecord.Options{})
		require.NoError(t, err)
		s := must.Have(idstore.Open(t.Context(), db, idstore.Options{Now: clock}))(t)
		for n := 1; n <= told; n++ {
			require.Equal(t, []string{fmt.Sprint("key ", n)}, keysOf(t, s, 1, "order", nth(n)))
			_, err = s.Recall(t.Context(), auth.Client{ID: 1}, fmt.Sprint("key ", n))
			require.True(t, mapping.Is(err, mapping.IdempotencyInUse), "%v", err)
		}
		require.NoError(t, db.Close())
	}
}

// beVictim gives out IDs and begins work, telling of each, until it is killed.
func beVictim(file string) {
	db, err := sqlrecord.OpenSQLite(file, sqlrecord.Options{})
	if err != nil {
		panic(err)
	}
	s, err := idstore.Open(context.Background(), db, idstore.Options{Now: clock})
	if err != nil {
		panic(err)
	}
	for n := 1; ; n++ {
		key := fmt.Sprint("key ", n)
		ids, err := s.IDs(context.Background(), []sheet.KeyRef{ref("order", 1, key)})
		if err != nil || ids[ref("order", 1, key)] != nth(n) {
			panic(fmt.Sprint(ids, err))
		}
		if _, err := s.Begin(context.Background(), auth.Client{ID: 1}, key); err != nil {
			panic(err)
		}
		fmt.Println(n)
	}
}
