package sqlrecord

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

func TestEveryValueComesBack(t *testing.T) {
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
	onStores(t, func(t *testing.T, s *fixture) {
		order := s.newOrder(t, alice, 1)
		at := order.Resource.Field("orderlines").Index
		group := order.Children[at][0].Get("turnover_group_id")
		last := s.create(t, alice, "orderline", "order_id", order.ID(), "description", "x", "turnover_group_id", group)
		first := s.create(t, alice, "orderline", "order_id", order.ID(), "description", "x", "turnover_group_id", group, "sort_order", 0)
		got := must.Have(s.Get(t.Context(), order.Resource, backend.Query{Client: alice, ID: order.ID(), Fields: []int{at}}))(t)
		require.Equal(t, []int32{first.ID(), order.Children[at][0].ID(), last.ID()}, ids(backend.Page{Records: got.Children[at]}))
	})
}

// TestConditionsOfTheStore: what a value does not fulfil by itself is not judged again.
func TestConditionsOfTheStore(t *testing.T) {
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
	onStores(t, func(t *testing.T, s *fixture) {
		stop := errors.New("stop")
		var made mapping.Record
		err := s.inTx(t.Context(), func(tx *Store) error {
			var err error
			made = must.Have(tx.Create(t.Context(), alice, s.record("contact", "name", "x")))(t)
			got, err := tx.Get(t.Context(), made.Resource, backend.Query{Client: alice, ID: made.ID(), ForUpdate: true})
			require.NoError(t, err, "it reads its own writes")
			require.Equal(t, made.Values, got.Values)
			return stop
		})
		require.ErrorIs(t, err, stop)
		require.ErrorIs(t, must.Fail(s.Get(t.Context(), made.Resource, backend.Query{Client: alice, ID: made.ID()})), backend.ErrNotFound)

		err = s.inTx(t.Context(), func(tx *Store) error {
			must.Have(tx.Create(t.Context(), alice, s.record("contact", "name", "kept?")))(t)
			require.ErrorIs(t, must.Fail(tx.Create(t.Context(), alice, s.record("vehicle", "license_plate", "X", "country_id", 999))), backend.ErrStale)
			_, err = tx.Create(t.Context(), alice, s.record("contact", "name", "after a failure"))
			require.Error(t, err)
			return nil
		})
		require.ErrorIs(t, err, backend.ErrStale, "a failed statement undoes all, whatever f says")
		require.Empty(t, s.list(t, "contact", backend.Query{Limit: 5}).Records)
	})
}

func (s *fixture) changes(t testing.TB) *Changes {
	t.Helper()
	return must.Have(OpenChanges(t.Context(), s.Store, time.Hour))(t)
}

// begin returns the cursor of now for alice.
func begin(t testing.TB, c *Changes) string {
	t.Helper()
	page := must.Have(c.Page(t.Context(), backend.ChangesQuery{Client: alice, Begin: true}))(t)
	return page.Cursor
}

// contacts returns the IDs of changed contacts, once the one that is given is among them.
func contacts(t testing.TB, c *Changes, after string, last mapping.Record) (ids []int32) {
	t.Helper()
	r := c.byName["contact"]
	await.True(t, func() bool {
		page := must.Have(c.Page(t.Context(), backend.ChangesQuery{Client: alice, After: after, Limit: 100, Resources: []*mapping.Resource{r}}))(t)
		ids = nil
		for _, change := range page.Changes {
			ids = append(ids, change.ID)
		}
		return len(ids) > 0 && ids[len(ids)-1] == last.ID()
	})
	return ids
}

// TestCursorsEndWithTheirSecret: cursors of one gateway are good at another, and end for all
// when the secret does, as it is told to those who put an older database back. One that is ahead of
// the table is of another state of it.
func TestCursorsEndWithTheirSecret(t *testing.T) {
	onStores(t, func(t *testing.T, s *fixture) {
		after := begin(t, s.changes(t))
		fresh := s.create(t, alice, "contact", "name", "new")
		require.Equal(t, []int32{fresh.ID()}, contacts(t, s.changes(t), after, fresh))
		s.create(t, alice, "contact", "name", "newer")
		gone := func(c *Changes, after string) {
			t.Helper()
			_, err := c.Page(t.Context(), backend.ChangesQuery{Client: alice, After: after, Limit: 1})
			require.True(t, mapping.Is(err, mapping.CursorGone), "%v", err)
		}
		c := s.changes(t)
		gone(c, c.seal.text(alice, cursor{at: spot{tx: c.head(1 << 60).tx, seq: c.head(1 << 60).seq}, issued: time.Now().UnixMilli()}))
		change(t, s.db, "UPDATE "+changeLogTable+" SET secret = NULL")
		gone(s.changes(t), after)
	})
}

// TestChangesReadLittle: a poll reads nothing but what is told.
func TestChangesReadLittle(t *testing.T) {
	onStores(t, func(t *testing.T, s *fixture) {
		args := []mapping.Value{mapping.IntValue(1), mapping.IntValue(0), mapping.IntValue(5), mapping.IntValue(100)}
		whole := s.plan(t, s.changes(t).page, args)
		if s.db.Dialect().sqlite {
			require.Equal(t, 2, strings.Count(whole, "record_change_client_idx (client_id=? AND rowid>?)"), whole)
			return
		}
		require.NotContains(t, whole, "Seq Scan on record_change", whole)
	})
}

// TestChangesOfADump reads a dump into another server, whose transactions have lower numbers:
// cursors from before are gone, and new changes are told.
func TestChangesOfADump(t *testing.T) {
	t.Parallel()
	dsn := sqltest.Postgres(t)
	db, err := OpenPostgres(t.Context(), dsn, Options{})
	require.NoError(t, err)
	s := newFixture(t, db)
	before := begin(t, s.changes(t))
	require.NoError(t, sqltest.Execute(dsn, "DO 'BEGIN FOR i IN 1..2000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP; END'"))
	s.create(t, alice, "contact", "name", "dumped")
	require.NoError(t, db.Close())

	dump, err := exec.Command(sqltest.Tool(t, "postgres", "pg_dump"), "--no-owner", dsn).Output() // #nosec G204
	require.NoError(t, err)
	elsewhere := sqltest.Unrelated(t).DSN("postgres")
	read := exec.Command(sqltest.Tool(t, "postgres", "psql"), "--quiet", "--set=ON_ERROR_STOP=1", "--dbname="+elsewhere) // #nosec G204
	read.Stdin = bytes.NewReader(dump)
	said, err := read.CombinedOutput()
	require.NoError(t, err, "%s", said)

	db = openPostgresAt(t, elsewhere, Options{})
	s = newFixture(t, db)
	c := s.changes(t)
	_, err = c.Page(t.Context(), backend.ChangesQuery{Client: alice, After: before, Limit: 1})
	require.True(t, mapping.Is(err, mapping.CursorGone), "%v", err)
	after := begin(t, c)
	fresh := s.create(t, alice, "contact", "name", "new")
	require.Equal(t, []int32{fresh.ID()}, contacts(t, c, after, fresh))
}

// ending is a context whose time is nearly over, and does not end.
type ending struct{ context.Context }

func (ending) Deadline() (time.Time, bool) { return time.Now().Add(time.Nanosecond), true }

// filling is a page of changes of contacts 1 to 40 whose records are read one by one.
func filling(t *testing.T, ctx context.Context, read func(id int32) error) (told gathering, page backend.ChangesPage, err error) {
	t.Helper()
	model := must.Have(mapping.LoadModel(""))(t)
	r := model.Resource("contact")
	told = gathering{wanted: []*mapping.Resource{r}, most: 100}
	for id := range int32(40) {
		told.add([]entry{{at: spot{seq: int64(id + 1)}, resource: r, id: id + 1, kind: kindUpdated}})
	}
	page.Changes = told.changes()
	each := func(_ context.Context, _ auth.Client, _ *mapping.Resource, ids []int32, each func(mapping.Record)) error {
		for _, id := range ids {
			if err := read(id); err != nil {
				return err
			}
			rec := mapping.NewRecord(r)
			rec.Values[r.ID] = mapping.IntValue(int64(id))
			each(rec)
		}
		return nil
	}
	err = fill(ctx, backend.ChangesQuery{}, &told, &page, oneByOne, each)
	return told, page, err
}

// TestPageEndsInTime: a page of changes whose records are read one by one ends before the time of
// the request does, and the cursor leads to what comes next.
func TestPageEndsInTime(t *testing.T) {
	read := 0
	told, page, err := filling(t, ending{t.Context()}, func(int32) error {
		read++
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, oneByOne, read)
	require.Len(t, page.Changes, oneByOne)
	require.True(t, page.More)
	require.Equal(t, spot{seq: oneByOne}, told.at)
}

// TestPageOfASlowSystem: a page ends in time also where the first few records take all of it.
func TestPageOfASlowSystem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, page, err := filling(t, ctx, func(int32) error { return auth.Sleep(ctx, 100*time.Millisecond) })
		require.NoError(t, err)
		require.NotEmpty(t, page.Changes)
		require.Less(t, len(page.Changes), 10)
		require.True(t, page.More)
	})
}

// TestPageEndsBeforeWhatCannotBeRead: what comes before a record that cannot be read is told. A
// page that would begin with that one fails.
func TestPageEndsBeforeWhatCannotBeRead(t *testing.T) {
	for bad, want := range map[int32]int{1: 0, 3: 2} {
		told, page, err := filling(t, t.Context(), func(id int32) error {
			if id == bad {
				return backend.ErrUnexpected
			}
			return nil
		})
		if want == 0 {
			require.ErrorIs(t, err, backend.ErrUnexpected)
			continue
		}
		require.NoError(t, err)
		require.Len(t, page.Changes, want)
		require.True(t, page.More)
		require.Equal(t, spot{seq: int64(want)}, told.at)
	}
}
