package sqlrecord

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// same compares records by value; a resource is itself.
var same = cmp.Options{
	cmp.Comparer(func(a, b mapping.Value) bool { return a == b }),
	cmp.Comparer(func(a, b *mapping.Resource) bool { return a == b }),
	cmpopts.EquateEmpty(),
}

func TestCreateAnswersWhatIsStored(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		s.Store = s.DatedBy(s.clock.now)
		rec := s.create(t, alice, "vehicle", "license_plate", "GT-123-B", "brand", "Škoda", "model", "", "mileage", -7,
			"sales_price", mapping.DecimalValue(189505000, 4), "first_admission_date", mapping.MilliValue(-1))
		require.Equal(t, int32(1), rec.ID())
		require.Equal(t, int64(1), rec.Version)
		require.Equal(t, "not_published", rec.Get("publish_status").Text())
		require.Equal(t, mapping.IntValue(0), rec.Get("is_blocked"))
		require.Equal(t, mapping.TimeValue(s.clock.now()), rec.Get("created_at"))
		require.Equal(t, mapping.NullValue(), rec.Get("vin"))
		require.Empty(t, cmp.Diff(rec, s.get(t, alice, rec), same))
	})
}

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

func TestRecordsOfOthersDoNotExist(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		rec := s.create(t, alice, "contact", "name", "Jansen")
		_, err := s.Get(t.Context(), rec.Resource, backend.Query{Client: bob, ID: rec.ID()})
		require.ErrorIs(t, err, backend.ErrNotFound)
		_, err = s.Get(t.Context(), rec.Resource, backend.Query{Client: alice, ID: rec.ID() + 1})
		require.ErrorIs(t, err, backend.ErrNotFound)
		_, err = s.Update(t.Context(), bob, rec, s.record("contact", "name", "x"))
		require.ErrorIs(t, err, backend.ErrStale)
		require.ErrorIs(t, s.Delete(t.Context(), bob, rec), backend.ErrStale)
		require.Empty(t, s.list(t, "contact", backend.Query{Client: bob, Limit: 5}).Records)
		for client, want := range map[int64]bool{1: true, 2: false} {
			c := alice
			c.ID = client
			found, err := s.Exists(t.Context(), c, rec.Resource, rec.ID())
			require.NoError(t, err)
			require.Equal(t, want, found)
		}
		require.Empty(t, cmp.Diff(rec, s.get(t, alice, rec), same))
	})
}

func TestSystemRecordsAreSeenByAllAndChangedByNone(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		system := s.create(t, admin, "country", "code", "NL", "name", "Nederland", "is_system", 1)
		own := s.create(t, alice, "country", "code", "XX", "name", "Elsewhere")
		hidden := s.create(t, admin, "contact", "name", "nobody's")
		require.Empty(t, cmp.Diff(system, s.get(t, bob, system), same))
		require.Equal(t, []int32{system.ID(), own.ID()}, ids(s.list(t, "country", backend.Query{Limit: 5})))
		require.Equal(t, []int32{system.ID()}, ids(s.list(t, "country", backend.Query{Client: bob, Limit: 5, Total: true})))
		_, err := s.Update(t.Context(), alice, system, s.record("country", "name", "x"))
		require.ErrorIs(t, err, backend.ErrStale)
		_, err = s.Get(t.Context(), hidden.Resource, backend.Query{Client: alice, ID: hidden.ID()})
		require.ErrorIs(t, err, backend.ErrNotFound)
	})
}

func TestUpdateSetsWhatIsPresent(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		s.Store = s.DatedBy(s.clock.now)
		rec := s.create(t, alice, "contact", "name", "Jansen", "note", "old", "payment_days", 30)
		updated, err := s.Update(t.Context(), alice, rec, s.record("contact", "name", "Pietersen", "payment_days", mapping.NullValue()))
		require.NoError(t, err)
		require.Equal(t, "Pietersen", updated.Get("name").Text())
		require.Equal(t, "old", updated.Get("note").Text())
		require.Equal(t, mapping.NullValue(), updated.Get("payment_days"))
		require.Equal(t, int64(2), updated.Version)
		require.Equal(t, rec.Get("modified_at").Int()+1, updated.Get("modified_at").Int(), "the clock stood still")
		require.Equal(t, "Jansen", rec.Get("name").Text(), "before is not changed")
		require.Empty(t, cmp.Diff(updated, s.get(t, alice, rec), same))

		_, err = s.Update(t.Context(), alice, rec, s.record("contact", "name", "lost"))
		require.ErrorIs(t, err, backend.ErrStale, "before is no longer what is stored")
		require.ErrorIs(t, s.Delete(t.Context(), alice, rec), backend.ErrStale)

		s.clock.advance(time.Hour)
		again, err := s.Update(t.Context(), alice, updated, s.record("contact", "note", "new"))
		require.NoError(t, err)
		require.Equal(t, mapping.TimeValue(s.clock.now()), again.Get("modified_at"))
		require.Equal(t, rec.Get("created_at"), again.Get("created_at"))
		require.NoError(t, s.Delete(t.Context(), alice, again))
		_, err = s.Get(t.Context(), rec.Resource, backend.Query{Client: alice, ID: rec.ID()})
		require.ErrorIs(t, err, backend.ErrNotFound)
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

func TestArrayFieldsAreStoredWithTheirRecord(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		order := s.newOrder(t, alice, 3)
		at := order.Resource.Field("orderlines").Index
		require.Len(t, order.Children[at], 3)
		for _, line := range order.Children[at] {
			require.Equal(t, int64(order.ID()), line.Get("order_id").Int())
			require.Positive(t, line.ID())
			require.Empty(t, cmp.Diff(line, s.get(t, alice, line), same))
		}
		plain := s.get(t, alice, order)
		require.Nil(t, plain.Children)
		require.True(t, plain.Values[at].IsAbsent())
		require.Equal(t, int64(1), plain.Version, "elements that come with it do not touch it")

		got, err := s.Get(t.Context(), order.Resource, backend.Query{Client: alice, ID: order.ID(), Fields: []int{at}})
		require.NoError(t, err)
		require.Equal(t, order.ID(), got.ID())
		require.True(t, got.Get("number").IsAbsent())
		order.Children[at][0], order.Children[at][2] = order.Children[at][2], order.Children[at][0] // by sort_order
		require.Empty(t, cmp.Diff(order.Children[at], got.Children[at], same))

		empty := s.newOrder(t, alice, 0)
		got, err = s.Get(t.Context(), order.Resource, backend.Query{Client: alice, ID: empty.ID(), Fields: []int{at}})
		require.NoError(t, err)
		require.Equal(t, `{"orderlines":[]}`, string(got.AppendJSON(nil, []int{at})))
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

func TestElementsTouchTheirRecord(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		s.Store = s.DatedBy(s.clock.now)
		order := s.newOrder(t, alice, 1)
		line := order.Children[order.Resource.Field("orderlines").Index][0]
		version, modified := order.Version, order.Get("modified_at").Int()
		touched := func(what string) {
			t.Helper()
			got := s.get(t, alice, order)
			require.Greater(t, got.Version, version, what)
			require.Greater(t, got.Get("modified_at").Int(), modified, what)
			require.Equal(t, order.Get("created_at"), got.Get("created_at"))
			version, modified = got.Version, got.Get("modified_at").Int()
		}
		line, err := s.Update(t.Context(), alice, line, s.record("orderline", "description", "changed"))
		require.NoError(t, err)
		touched("update")
		s.create(t, alice, "orderline", "order_id", order.ID(), "description", "x", "turnover_group_id", line.Get("turnover_group_id"))
		touched("create")
		require.NoError(t, s.Delete(t.Context(), alice, line))
		touched("delete")
		s.clock.advance(time.Minute)
		require.NoError(t, s.Touch(t.Context(), order.Resource, order.ID()))
		touched("touch")
		require.Equal(t, s.clock.now().UnixMilli(), modified)
	})
}

func TestConstraintsOfTheStore(t *testing.T) {
	t.Parallel()
	onStores(t, func(t *testing.T, s *fixture) {
		refused := func(rec mapping.Record) {
			t.Helper()
			_, err := s.Create(t.Context(), alice, rec)
			require.ErrorIs(t, err, backend.ErrStale)
		}
		contact := s.create(t, alice, "contact", "name", "x", "number", "C1")
		refused(s.record("contact", "name", "x", "number", "C1"))
		s.create(t, bob, "contact", "name", "x", "number", "C1")
		s.create(t, alice, "contact", "name", "x")
		s.create(t, alice, "contact", "name", "NULL collides with nothing")

		s.create(t, alice, "vehicle", "license_plate", "GT-123-B")
		refused(s.record("vehicle", "license_plate", "gt123b"))
		s.create(t, bob, "vehicle", "license_plate", "gt123b")

		mail := func(preferred any) mapping.Record {
			return s.record("contactcommunication", "contact_id", contact.ID(), "type", 4, "value", "a@b.nl", "is_prefered_email", preferred)
		}
		for _, v := range []any{1, 0, 0, mapping.NullValue(), mapping.NullValue()} {
			_, err := s.Create(t.Context(), alice, mail(v))
			require.NoError(t, err)
		}
		refused(mail(1))

		refused(s.record("vehicle", "license_plate", "X", "country_id", 999))
		require.ErrorIs(t, s.Delete(t.Context(), alice, contact), backend.ErrStale, "it is referred to")
	})
}

// TestConditionsOfTheStore: what a value does not fulfil by itself is not judged again.
// Before, some was ErrStale, and some a failure that opened the circuit.
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
