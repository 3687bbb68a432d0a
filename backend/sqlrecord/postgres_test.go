package sqlrecord

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// TestPostgresBehindAPooler uses the protocol variants that need no prepared
// statements on the server.
func TestPostgresBehindAPooler(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"exec", "simple_protocol", "cache_describe"} {
		t.Run(mode, func(t *testing.T) {
			dsn := sqltest.Postgres(t)
			db := openPostgresAt(t, dsn+"&default_query_exec_mode="+mode, Options{})
			model, err := mapping.LoadModel("")
			require.NoError(t, err)
			require.ErrorIs(t, Migrate(t.Context(), db, model), errPooled)
			direct, err := OpenPostgres(t.Context(), dsn, Options{})
			require.NoError(t, err)
			newFixture(t, direct)
			require.NoError(t, direct.Close())
			s := newFixture(t, db)
			order := s.newOrder(t, alice, 2)
			got := s.get(t, alice, order)
			order.Values[order.Resource.Field("orderlines").Index] = mapping.Value{}
			require.Equal(t, order.Values, got.Values)
			doc := s.create(t, alice, "document", "name", "x", "content", mapping.BytesValue([]byte{0, 1, 255}), "resource", "order", "resource_id", 1)
			require.Equal(t, doc.Values, s.get(t, alice, doc).Values)
			q := backend.Query{Limit: 5, Offset: 0, Total: true, ModifiedSince: order.Get("modified_at"),
				Filters: []backend.Filter{{Field: order.Resource.Field("total_excl"), Value: order.Get("total_excl")}}}
			require.Len(t, s.list(t, "order", q).Records, 1)
			_, err = s.Update(t.Context(), alice, got, s.record("order", "reference", "changed"))
			require.NoError(t, err)
			s.create(t, alice, "contact", "id", 77, "name", "x")
		})
	}
}

// TestPostgresRunsAgainAfterADeadlock has two transactions wait for each other.
func TestPostgresRunsAgainAfterADeadlock(t *testing.T) {
	t.Parallel()
	s := newFixture(t, openPostgres(t))
	a, b := s.create(t, alice, "contact", "name", "a"), s.create(t, alice, "contact", "name", "b")
	var met, wg sync.WaitGroup
	met.Add(2)
	for _, pair := range [][2]mapping.Record{{a, b}, {b, a}} {
		wg.Go(func() {
			var once sync.Once
			err := s.inTx(t.Context(), func(tx *Store) error {
				for i, rec := range pair {
					q := backend.Query{Client: alice, ID: rec.ID(), ForUpdate: true}
					if _, err := tx.Get(t.Context(), rec.Resource, q); err != nil {
						return err
					}
					if i == 0 {
						once.Do(func() { met.Done(); met.Wait() })
					}
				}
				return nil
			})
			require.NoError(t, err)
		})
	}
	wg.Wait()
}

// TestPostgresReadsForeignTypes reads types of tables that frontdesk did not create.
func TestPostgresReadsForeignTypes(t *testing.T) {
	t.Parallel()
	db := openPostgres(t)
	const text = `SELECT 7::smallint, 'a'::char(5), 1.25::float8, 1.255::numeric, 0.5::float4, '2026-07-01'::date, '2026-07-01 10:00'::timestamp,
		12::bigint, '00000000-0000-0000-0000-000000000001'::uuid, 3, 123456789012345678901::numeric / 1e10, 2.5::numeric`
	scaled := Column{Type: mapping.Float8, Scale: 2}
	columns := []Column{{Type: mapping.Int4}, {Type: mapping.Varchar}, scaled, scaled, {Type: mapping.Float8, Scale: -1}, {Type: mapping.Timestamp},
		{Type: mapping.Timestamp}, scaled, {Type: mapping.Text}, scaled, scaled, {Type: mapping.Float8, Scale: -1}}
	err := db.Read(t.Context(), func(c Conn) error {
		return c.Query(t.Context(), text, columns, nil, func(row []mapping.Value) error {
			var got []string
			for _, v := range row {
				got = append(got, v.String())
			}
			require.Equal(t, []string{"7", "a", "1.25", "1.26", "0.5", "2026-07-01T00:00:00.000Z", "2026-07-01T10:00:00.000Z", "12",
				"00000000-0000-0000-0000-000000000001", "3", "12345678901.23", "2.5"}, got)
			return nil
		})
	})
	require.NoError(t, err)
	for _, text := range []string{"SELECT 'NaN'::numeric", "SELECT 1e30::numeric", "SELECT 'x'"} {
		err := db.Read(t.Context(), func(c Conn) error {
			return c.Query(t.Context(), text, []Column{scaled}, nil, func([]mapping.Value) error { return errors.New("read") })
		})
		require.ErrorContains(t, err, "read a result: ", text)
	}
}

func TestPostgresThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	_, err := OpenPostgres(t.Context(), "postgres://nobody:secret@127.0.0.1:1/none?connect_timeout=2", Options{})
	require.ErrorContains(t, err, "open PostgreSQL database: ")
	require.NotContains(t, err.Error(), "secret")
	_, err = OpenPostgres(t.Context(), "postgres://nobody:secret@127.0.0.1:none", Options{})
	require.ErrorContains(t, err, "open PostgreSQL database: ")
	require.NotContains(t, err.Error(), "secret")
}
