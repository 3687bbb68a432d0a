package sqlrecord

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

func TestEveryValueComesBack(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("é€𝄞'\"\\", 20000)
	onStores(t, func(t *testing.T, s *fixture) {
		for n, price := range []int64{0, 1, -1, 9999, 10000, 10001, -123456789, 999999999999999, -999999999999999} {
			rec := s.create(t, alice, "vehicle", "license_plate", fmt.Sprint(n), "purchase_price", mapping.DecimalValue(price, 4))
			require.Equal(t, mapping.DecimalValue(price, 4), s.get(t, alice, rec).Get("purchase_price"))
		}
		for _, at := range []int64{0, -1, 1, -62135596800000, 253402300799999, 1783072800123} {
			rec := s.create(t, alice, "contact", "name", "x", "birth_date", mapping.MilliValue(at))
			require.Equal(t, mapping.MilliValue(at), s.get(t, alice, rec).Get("birth_date"))
		}
		for _, text := range []string{"", " ", "padded   ", "O'Brien", long} {
			rec := s.create(t, alice, "contact", "name", "x", "note", text)
			require.Equal(t, text, s.get(t, alice, rec).Get("note").Text())
			require.Equal(t, "x", s.get(t, alice, rec).Get("name").Text())
		}
		for _, content := range [][]byte{{}, {0}, {0, 255, 'a', 0}, []byte(long)} {
			rec := s.create(t, alice, "document", "name", "x", "content", mapping.BytesValue(content), "resource", "contact", "resource_id", 1)
			require.Equal(t, mapping.BytesValue(content), s.get(t, alice, rec).Get("content"))
			page := s.list(t, "document", backend.Query{Limit: 10, Sort: []backend.Order{{Field: rec.Resource.Field("id"), Descending: true}}})
			require.True(t, page.Records[0].Get("content").IsAbsent())
		}
	})
}

func TestIDsAreNeverReused(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		for want := int32(1); want <= 3; want++ {
			rec := s.create(t, alice, "contact", "name", "x")
			require.Equal(t, want, rec.ID())
			require.NoError(t, s.Delete(t.Context(), alice, rec))
		}
		kept := s.create(t, alice, "contact", "id", 41, "name", "restored", "created_at", mapping.MilliValue(5))
		require.Equal(t, int32(41), kept.ID())
		require.Equal(t, mapping.MilliValue(5), s.get(t, alice, kept).Get("created_at"))
		require.Equal(t, int32(20), s.create(t, alice, "contact", "id", 20, "name", "x").ID())
		require.Equal(t, int32(42), s.create(t, alice, "contact", "name", "x").ID())
	})
}

// TestIDsEndWhereInt4Does: before, SQLite counted on, and answered a record under an id
// that nobody can ask for.
func TestIDsEndWhereInt4Does(t *testing.T) {
	onStores(t, func(t *testing.T, s *fixture) {
		last := s.create(t, alice, "contact", "id", math.MaxInt32, "name", "the last")
		for range 2 {
			_, err := s.Create(t.Context(), alice, s.record("contact", "name", "one too many"))
			require.Error(t, err)
			require.NotErrorIs(t, err, backend.ErrStale)
		}
		require.Equal(t, []int32{last.ID()}, ids(s.list(t, "contact", backend.Query{Client: alice, Limit: 5})))
	})
}

func TestElementsWithoutAPlaceComeLast(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		order := s.newOrder(t, alice, 1)
		at := order.Resource.Field("orderlines").Index
		group := order.Children[at][0].Get("turnover_group_id")
		last := s.create(t, alice, "orderline", "order_id", order.ID(), "description", "x", "turnover_group_id", group)
		first := s.create(t, alice, "orderline", "order_id", order.ID(), "description", "x", "turnover_group_id", group, "sort_order", 0)
		got, err := s.Get(t.Context(), order.Resource, backend.Query{Client: alice, ID: order.ID(), Fields: []int{at}})
		require.NoError(t, err)
		require.Equal(t, []int32{first.ID(), order.Children[at][0].ID(), last.ID()}, ids(backend.Page{Records: got.Children[at]}))
	})
}

// TestConditionsOfTheStore: what a value does not fulfil by itself is not judged again.
func TestConditionsOfTheStore(t *testing.T) {
	t.Parallel()
	onEngines(t, func(t *testing.T, db DB) {
		exec := func(statement string) error {
			return db.Write(t.Context(), func(c Conn) error {
				_, err := c.Exec(t.Context(), statement)
				return err
			})
		}
		require.NoError(t, exec("CREATE TABLE narrow (n integer NOT NULL, word text CHECK (word <> 'no'))"+db.Dialect().TableOptions))
		require.NoError(t, exec("INSERT INTO narrow VALUES (1, 'yes')"))
		for _, values := range []string{"NULL, 'yes'", "1, 'no'", "'one', 'yes'"} {
			err := exec("INSERT INTO narrow VALUES (" + values + ")")
			require.ErrorIs(t, err, backend.ErrUnexpected, values)
			require.NotErrorIs(t, err, backend.ErrStale, values)
		}
	})
}

func TestTransactions(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		stop := errors.New("stop")
		var made mapping.Record
		err := s.inTx(t.Context(), func(tx *Store) error {
			var err error
			made, err = tx.Create(t.Context(), alice, s.record("contact", "name", "x"))
			require.NoError(t, err)
			got, err := tx.Get(t.Context(), made.Resource, backend.Query{Client: alice, ID: made.ID(), ForUpdate: true})
			require.NoError(t, err, "it reads its own writes")
			require.Equal(t, made.Values, got.Values)
			return stop
		})
		require.ErrorIs(t, err, stop)
		_, err = s.Get(t.Context(), made.Resource, backend.Query{Client: alice, ID: made.ID()})
		require.ErrorIs(t, err, backend.ErrNotFound)

		err = s.inTx(t.Context(), func(tx *Store) error {
			_, err := tx.Create(t.Context(), alice, s.record("contact", "name", "kept?"))
			require.NoError(t, err)
			_, err = tx.Create(t.Context(), alice, s.record("vehicle", "license_plate", "X", "country_id", 999))
			require.ErrorIs(t, err, backend.ErrStale)
			_, err = tx.Create(t.Context(), alice, s.record("contact", "name", "after a failure"))
			require.Error(t, err)
			return nil
		})
		require.ErrorIs(t, err, backend.ErrStale, "a failed statement undoes all, whatever f says")
		require.Empty(t, s.list(t, "contact", backend.Query{Limit: 5}).Records)
	})
}
