package sqlrecord

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// What is drawn is the same in each run; -rapid.seed has it drawn otherwise.
func init() {
	if err := flag.Set("rapid.seed", "1"); err != nil {
		panic(err)
	}
}

func TestListOfASnapshot(t *testing.T) {
	onStores(t, func(t *testing.T, s *fixture) {
		s.create(t, alice, "contact", "name", "before")
		err := s.DB().Snapshot(t.Context(), func(c Conn) error {
			tx := &fixture{Store: s.On(c), model: s.model}
			require.Len(t, tx.list(t, "contact", backend.Query{Limit: 5}).Records, 1)
			s.create(t, alice, "contact", "name", "after")
			require.Len(t, tx.list(t, "contact", backend.Query{Limit: 5}).Records, 1)
			return nil
		})
		require.NoError(t, err)
		require.Len(t, s.list(t, "contact", backend.Query{Limit: 5}).Records, 2)
	})
}

// naive is the page of a list in the order of IDs.
func naive(all []mapping.Record, q backend.Query) (want []int32, more bool) {
	all = all[min(q.Offset, len(all)):]
	return ids(backend.Page{Records: all[:min(q.Limit, len(all))]}), len(all) > q.Limit
}

// TestPlans makes sure that SQLite, which has no statistics here, uses the index that
// narrows most.
func TestPlans(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openSQLite(t))
	for _, c := range []struct{ resource, filters, want string }{
		{"order", "", "order_list_idx (client_id=?)"},
		{"order", "after", "order_list_idx (client_id=? AND rowid>?)"},
		{"order", "since", "order_modified_idx (client_id=? AND modified_at>?)"},
		{"order", "number", "order_number_idx (client_id=? AND number=?)"},
		{"order", "order_status", "order_list_idx (client_id=?)"},
		{"order", "contact_id", "order_contact_id_ref_idx (contact_id=?)"},
		{"order", "contact_id after", "order_contact_id_ref_idx (contact_id=? AND rowid>?)"},
		{"order", "vehicle_id", "order_vehicle_id_ref_idx (vehicle_id=?)"},
		{"orderline", "order_id", "orderline_order_id_ref_idx (order_id=?)"},
		{"flatrateline", "flatrate_id", "flatrateline_sort_order_idx (flatrate_id=?)"},
		{"flatrateline", "flatrate_id sort_order", "flatrateline_sort_order_idx (flatrate_id=? AND sort_order=?)"},
		{"vehicle", "license_plate", "vehicle_license_plate_idx (client_id=? AND <expr>=?)"},
		{"document", "resource resource_id", "document_resource_id_idx (resource_id=? AND resource=?)"},
	} {
		q := backend.Query{Client: alice, Limit: 50}
		r := s.model.Resource(c.resource)
		for _, name := range strings.Fields(c.filters) {
			switch f := r.Field(name); {
			case name == "after":
				q.After = 7
			case name == "since":
				q.ModifiedSince = mapping.MilliValue(7)
			case f.Type == mapping.Int4:
				q.Filters = append(q.Filters, backend.Filter{Field: f, Value: mapping.IntValue(1)})
			default:
				q.Filters = append(q.Filters, backend.Filter{Field: f, Value: mapping.TextValue("x")})
			}
		}
		l := s.listing(s.tables[r], q)
		require.Contains(t, s.plan(t, l.text, l.args), c.want, c.resource+" "+c.filters)
	}
}

// TestPlansOfUnequalClients makes sure that PostgreSQL does not read all clients' records
// for the list of a client with few, and does not sort all of a client's records for the
// first page of an order that an index has. It tests generic plans, and plans for given
// values where the best plan depends on them.
func TestPlansOfUnequalClients(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openPostgres(t))
	change(t, s.DB(), `INSERT INTO "order" (client_id, row_version, number, created_at, modified_at)
		SELECT CASE WHEN n > 9990 THEN 1 ELSE 2 END, 1, n::text, to_timestamp(n), to_timestamp(n) FROM generate_series(1, 10000) n`)
	change(t, s.DB(), `ANALYZE "order"`)
	since := func(n int64) backend.Query { return backend.Query{ModifiedSince: mapping.MilliValue(n * 1000)} }
	sorted := func(name string, descending bool) backend.Query {
		return backend.Query{Sort: []backend.Order{{Field: s.model.Resource("order").Field(name), Descending: descending}}}
	}
	for name, c := range map[string]struct {
		q      backend.Query
		client auth.Client
		want   string
	}{
		"plain":             {backend.Query{}, alice, "Index Scan using order_list_idx"},
		"after":             {backend.Query{After: 5}, alice, "Index Cond: ((ROW(client_id, id) > ROW($1, $2)) AND (client_id <= $1))"},
		"newest":            {sorted("id", true), alice, "Index Scan Backward using order_list_idx"},
		"deep":              {backend.Query{Offset: 5}, alice, "Index Only Scan using order_list_idx"},
		"changed last":      {sorted("modified_at", true), bob, "Index Scan Backward using order_modified_idx"},
		"changed lately":    {since(9985), bob, "order_modified_idx"},
		"changed some time": {since(1), bob, "order_pkey"},
	} {
		c.q.Client, c.q.Limit = c.client, 50
		require.Contains(t, s.explain(t, c.q), c.want, name)
	}
}

// explain returns PostgreSQL's plan of a list of orders.
func (s *fixture) explain(t *testing.T, q backend.Query) string {
	t.Helper()
	l := s.listing(s.tables[s.model.Resource("order")], q)
	mode := "force_generic_plan"
	if l.varied {
		mode = "force_custom_plan"
	}
	var values []string
	for _, v := range l.args {
		values = append(values, "'"+v.String()+"'")
	}
	var lines []string
	require.NoError(t, s.DB().Write(t.Context(), func(c Conn) error {
		conn := c.(*postgresConn).conn
		for _, text := range []string{"DEALLOCATE ALL", "SET LOCAL plan_cache_mode = " + mode, "PREPARE list AS " + l.text} {
			if _, err := conn.Exec(t.Context(), text, pgx.QueryExecModeSimpleProtocol); err != nil {
				return err
			}
		}
		rows, err := conn.Query(t.Context(), "EXPLAIN EXECUTE list ("+strings.Join(values, ", ")+")", pgx.QueryExecModeSimpleProtocol)
		if err == nil {
			lines, err = pgx.CollectRows(rows, pgx.RowTo[string])
		}
		return err
	}))
	return strings.Join(lines, "\n")
}

func (s *fixture) plan(t *testing.T, text string, args []mapping.Value) string {
	t.Helper()
	explain, columns := "EXPLAIN QUERY PLAN ", []Column{{Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Int4}, {Type: mapping.Text}}
	if !s.db.Dialect().sqlite {
		explain, columns = "EXPLAIN ", columns[3:]
	}
	var lines []string
	require.NoError(t, s.DB().Read(t.Context(), func(c Conn) error {
		return c.Query(t.Context(), explain+text, columns, args, func(row []mapping.Value) error {
			lines = append(lines, strings.Clone(row[len(row)-1].Text()))
			return nil
		})
	}))
	return strings.Join(lines, "\n")
}

// TestDeepPagesEqualNaiveOnes deletes and inserts at random, in two stores on one database,
// and compares pages with the records that are stored.
func TestDeepPagesEqualNaiveOnes(t *testing.T) {
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
				want, more := naive(all, q)
				require.Equal(rt, want, ids(page))
				require.Equal(rt, more, page.More)
				if q.Total {
					require.EqualValues(rt, len(all), page.Total)
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
