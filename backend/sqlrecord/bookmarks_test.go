package sqlrecord

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// TestDeepPagesEqualNaiveOnes deletes and inserts at random, in two stores on one database,
// and compares pages with the records that are stored.
func TestDeepPagesEqualNaiveOnes(t *testing.T) {
	t.Parallel()
	onEngines(t, deepPagesEqualNaiveOnes)
}

func deepPagesEqualNaiveOnes(t *testing.T, db DB) {
	s := newFixture(t, db)
	other := &fixture{New(db, s.model, s.clock.now), s.model, s.clock} // remembers for itself, as another process does
	if lite, ok := db.(*sqliteDB); ok {
		require.NoError(t, lite.writer.conn.exec("PRAGMA synchronous=OFF")) // thousands of commits
	}
	s.bookmarks.every, other.bookmarks.every = 8, 8
	r := s.model.Resource("contact")
	next := int64(100)
	rapid.Check(t, func(rt *rapid.T) {
		if next++; !db.Dialect().sqlite && next > 120 && !sqltest.Soak() {
			return // each transaction is one of a server
		}
		client := auth.Client{ID: next}
		var all []mapping.Record
		insert := func(n int, at int32) {
			err := s.inTx(t.Context(), func(tx *Store) error {
				for range n {
					in := s.record("contact", "name", "x")
					if at > 0 {
						in.Set("id", mapping.IntValue(int64(at)))
					}
					rec, err := tx.Create(t.Context(), client, in)
					if err != nil {
						return err
					}
					all = append(all, rec)
				}
				return nil
			})
			require.NoError(rt, err)
		}
		insert(rapid.IntRange(1, 60).Draw(rt, "at first"), 0)
		rt.Repeat(map[string]func(*rapid.T){
			"insert": func(rt *rapid.T) { insert(rapid.IntRange(1, 20).Draw(rt, "n"), 0) },
			"delete": func(rt *rapid.T) {
				err := s.inTx(t.Context(), func(tx *Store) error {
					for range min(len(all), rapid.IntRange(1, 5).Draw(rt, "n")) {
						i := rapid.IntRange(0, len(all)-1).Draw(rt, "which")
						if err := tx.Delete(t.Context(), client, all[i]); err != nil {
							return err
						}
						all = slices.Delete(all, i, i+1)
					}
					return nil
				})
				require.NoError(rt, err)
			},
			"restore": func(rt *rapid.T) {
				if len(all) > 1 && all[1].ID() > all[0].ID()+1 {
					insert(1, all[0].ID()+1)
					last := len(all) - 1
					all = slices.Insert(all[:last], 1, all[last])
				}
			},
			"undone": func(rt *rapid.T) {
				if len(all) == 0 {
					return
				}
				stop := fmt.Errorf("stop")
				err := s.inTx(t.Context(), func(tx *Store) error {
					require.NoError(rt, tx.Delete(t.Context(), client, all[0]))
					_, err := tx.List(t.Context(), r, backend.Query{Client: client, Limit: 1, Offset: 16, Total: true})
					require.NoError(rt, err)
					return stop
				})
				require.ErrorIs(rt, err, stop)
			},
			"": func(rt *rapid.T) {
				q := backend.Query{Client: client, Limit: rapid.IntRange(1, 30).Draw(rt, "limit"), Total: rapid.Bool().Draw(rt, "total"),
					Offset: rapid.IntRange(0, len(all)+20).Draw(rt, "offset")}
				reader := rapid.SampledFrom([]*fixture{s, other}).Draw(rt, "store")
				page, err := reader.List(t.Context(), r, q)
				require.NoError(rt, err)
				want, more, total := naive(all, q)
				require.Equal(rt, want, ids(page))
				require.Equal(rt, more, page.More)
				if q.Total {
					require.Equal(rt, total, page.Total)
				}
			},
		})
	})
}

func TestBookmarksAreBounded(t *testing.T) {
	t.Parallel()
	p := newBookmarks()
	for n := range int64(2 * maxBookmarkLists) {
		p.learn(bookmarkKey{client: n}, 0, []int32{1})
	}
	require.Equal(t, maxBookmarkLists, p.lists.Len())
	key := bookmarkKey{client: 2*maxBookmarkLists - 1}
	p.learn(key, 0, []int32{1, 2})
	p.learn(key, 0, []int32{9})
	require.Equal(t, []int32{1, 2}, p.known(key, 0))
	p.learn(key, 1, []int32{9})
	p.learn(key, 0, []int32{1, 2})
	require.Equal(t, []int32{9}, p.known(key, 1))
	require.Empty(t, p.known(key, 0))
}
