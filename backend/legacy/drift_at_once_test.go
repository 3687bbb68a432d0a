package legacy

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// onTyped runs f for the engines whose columns have types.
func onTyped(t *testing.T, f func(t *testing.T, engine string, x *tables)) {
	for _, engine := range []string{"postgres", "mariadb"} {
		t.Run(engine, func(t *testing.T) { f(t, engine, onTables(t, engine, driftSheet, driftTables(engine)...)) })
	}
}

// TestDriftIsSeenInResults: a column that has become a text is no longer sorted or compared as the
// number that it was, also before anybody has looked, and where it is not asked for.
func TestDriftIsSeenInResults(t *testing.T) {
	onTyped(t, func(t *testing.T, engine string, x *tables) {
		article := x.model.Resource("article")
		price := article.Field("price")
		q := backend.Query{Client: one, Fields: []int{article.ID}, Sort: []backend.Order{{Field: price, Descending: true}}}
		page, err := x.front.List(t.Context(), article, q)
		require.NoError(t, err)
		require.Equal(t, int32(2), page.Records[0].ID())
		run(t, engine, x.dsn, retype(engine, "art", "prijs", "VARCHAR(30)"))
		_, err = x.front.List(t.Context(), article, q)
		require.True(t, mapping.Is(err, mapping.BackendChanged), "9.87 comes before 900.50 now: %v", err)
	})
}

// TestDriftRoundsNothing: a column that keeps fewer decimals than it did takes no number that it
// would round, before anybody has looked and then; what does not touch it is written.
func TestDriftRoundsNothing(t *testing.T) {
	onTyped(t, func(t *testing.T, engine string, x *tables) {
		run(t, engine, x.dsn, "UPDATE art SET prijs = 9", retype(engine, "art", "prijs", "INTEGER"))
		for range 2 {
			_, err := x.tryUpdate(one, 1, x.record("article", "price", "9.87"))
			require.True(t, mapping.Is(err, mapping.BackendChanged), "%v", err)
			require.Equal(t, "9", x.one("SELECT prijs FROM art WHERE id = 1"))
			x.look(t.Context())
		}
		require.Equal(t, "art.prijs has 0 decimals, and had 2: values would be rounded", x.Closed()[0].What)
		x.update(one, 1, x.record("article", "description", "touches no price"))
		require.NoError(t, x.tryDelete(one, "article", 2))
		run(t, engine, x.dsn, retype(engine, "art", "prijs", "DECIMAL(10,2)"))
		x.look(t.Context())
		x.update(one, 1, x.record("article", "price", "9.87"))
	})
}

// TestDriftOfAColumnThatNothingFills: it closes creating at once.
func TestDriftOfAColumnThatNothingFills(t *testing.T) {
	onTyped(t, func(t *testing.T, engine string, x *tables) {
		run(t, engine, x.dsn, "ALTER TABLE art ADD COLUMN regio INTEGER NOT NULL DEFAULT 0", "ALTER TABLE art ALTER COLUMN regio DROP DEFAULT")
		for range 2 {
			_, err := x.tryCreate(one, x.record("article", "number", "B", "description", "new", "price", "1"))
			require.True(t, mapping.Is(err, mapping.BackendChanged), "%v", err)
			x.update(one, 1, x.record("article", "description", "is still written"))
			x.look(t.Context())
		}
	})
}

// TestAlteredWhileItIsRead: PostgreSQL shows a table that is altered, or emptied and filled, as
// empty to a transaction that began before. Nothing is not found because of it.
func TestAlteredWhileItIsRead(t *testing.T) {
	for name, text := range map[string]string{
		"altered": "ALTER TABLE art ALTER COLUMN prijs TYPE DECIMAL(12, 3) USING prijs + 0",
		"filled":  "CREATE TEMPORARY TABLE old AS SELECT * FROM art; TRUNCATE art; INSERT INTO art SELECT * FROM old",
	} {
		t.Run(name, func(t *testing.T) {
			x := onTables(t, "postgres", driftSheet, driftTables("postgres")...)
			alter := func() { require.NoError(t, sqltest.Execute(x.dsn, text)) }
			runs, article, group := 0, x.model.Resource("article"), x.model.Resource("turnovergroup")
			require.NoError(t, x.Write(t.Context(), func(tx backend.Tx) error {
				_, err := tx.Get(t.Context(), group, backend.Query{Client: one, ID: 1})
				require.NoError(t, err)
				if runs++; runs == 1 {
					alter()
				}
				_, err = tx.Get(t.Context(), article, backend.Query{Client: one, ID: 1})
				return err
			}))
			require.Equal(t, 2, runs)
			runs = 0
			require.NoError(t, x.snapshot(t.Context(), func(on session) error {
				_, err := on.page(t.Context(), group, backend.Query{Client: one})
				require.NoError(t, err)
				if runs++; runs == 1 {
					alter()
				}
				page, err := on.page(t.Context(), article, backend.Query{Client: one})
				require.Len(t, page.Records, []int{0, 2}[runs-1])
				return err
			}))
			require.Equal(t, 2, runs)
		})
	}
}

// TestPlansOfBefore: what connections prepared before a table was altered fails no request after.
func TestPlansOfBefore(t *testing.T) {
	x := onTables(t, "postgres", driftSheet, driftTables("postgres")...)
	article := x.model.Resource("article")
	all := func() (errs []error) {
		update := func() error {
			_, err := x.front.Update(context.WithoutCancel(t.Context()), one, 1, mapping.BodyOf(x.record("article", "price", "3.5")), backend.Write{})
			return err
		}
		total := func() error {
			_, err := x.front.List(context.WithoutCancel(t.Context()), article, backend.Query{Client: one, Total: true})
			return err
		}
		return append(together(update), together(total)...)
	}
	all()
	run(t, "postgres", x.dsn, retype("postgres", "art", "prijs", "DECIMAL(12, 3)"), retype("postgres", "art", "oms", "TEXT"))
	x.look(t.Context())
	for _, err := range all() {
		require.NoError(t, err)
	}
}
