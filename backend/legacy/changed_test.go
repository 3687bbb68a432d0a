package legacy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/mapping"
)

// TestLookThatFails closes nothing.
func TestLookThatFails(t *testing.T) {
	x := scripted(t, "drift.txt", "a column more").open(t, "sqlite")
	require.NoError(t, x.db.Close())
	x.look(t.Context())
	require.Empty(t, x.Closed())
	require.NotZero(t, x.logged.FilterMessage("what the sheet uses of the database could not be looked at").Len())
}

// TestLooksEveryMinute: the database is looked at each minute, and no more once it is closed.
func TestLooksEveryMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			lookAgain(ctx, nil, func() { looks++ })
		}()
		time.Sleep(5*lookEvery + time.Minute/2)
		synctest.Wait()
		require.Equal(t, 5, looks)
		stop()
		<-done
	})
}

// onTyped runs f for the engines whose columns have types.
func onTyped(t *testing.T, f func(t *testing.T, engine string, x *tables)) {
	for _, engine := range []string{"postgres", "mariadb"} {
		t.Run(engine, func(t *testing.T) { f(t, engine, scripted(t, "drift.txt", "a column more").open(t, engine)) })
	}
}

// TestAlteredWhileItIsRead: PostgreSQL shows a table that is altered, or emptied and filled, as
// empty to a transaction that began before. Nothing is not found because of it.
func TestAlteredWhileItIsRead(t *testing.T) {
	for name, text := range map[string]string{
		"altered": "ALTER TABLE art ALTER COLUMN prijs TYPE DECIMAL(12, 3) USING prijs + 0",
		"filled":  "CREATE TEMPORARY TABLE old AS SELECT * FROM art; TRUNCATE art; INSERT INTO art SELECT * FROM old",
	} {
		t.Run(name, func(t *testing.T) {
			x := scripted(t, "drift.txt", "a column more").open(t, "postgres")
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
	x := scripted(t, "drift.txt", "a column more").open(t, "postgres")
	article := x.model.Resource("article")
	all := func() (errs []error) {
		update := func(int) error {
			_, err := x.front.Update(context.WithoutCancel(t.Context()), one, 1, mapping.BodyOf(x.record("article", "price", "3.5")), backend.Write{})
			return err
		}
		total := func(int) error {
			_, err := x.front.List(context.WithoutCancel(t.Context()), article, backend.Query{Client: one, Total: true})
			return err
		}
		return append(drivertest.Together(parallel, update), drivertest.Together(parallel, total)...)
	}
	all()
	run(t, "postgres", x.dsn, retype("postgres", "art", "prijs", "DECIMAL(12, 3)"), retype("postgres", "art", "oms", "TEXT"))
	x.look(t.Context())
	for _, err := range all() {
		require.NoError(t, err)
	}
}

// TestTransactionThatIsCutOff: a connection that ends within a transaction, or before its end, leaves
// nothing of it, is no answer, and is in the way of no other.
func TestTransactionThatIsCutOff(t *testing.T) {
	onTyped(t, func(t *testing.T, engine string, x *tables) {
		article := x.model.Resource("article")
		cut := func(tx backend.Tx) {
			var id string
			own := of(engine, "SELECT pg_backend_pid()::text", "SELECT CAST(CONNECTION_ID() AS CHAR)")
			require.NoError(t, tx.(*txn).conn.Query(t.Context(), own, []sqlrecord.Column{foreignText}, nil, func(row []mapping.Value) error {
				id = row[0].Text()
				return nil
			}))
			run(t, engine, x.dsn, of(engine, "SELECT pg_terminate_backend("+id+")", "KILL "+id))
		}
		for _, name := range []string{"within", "at its end"} {
			err := x.Write(t.Context(), func(tx backend.Tx) error {
				before, err := tx.Get(t.Context(), article, backend.Query{Client: one, ID: 1, ForUpdate: true})
				require.NoError(t, err)
				_, err = tx.Update(t.Context(), one, before, x.record("article", "description", "cut off"))
				require.NoError(t, err)
				if cut(tx); name == "within" {
					_, err = tx.Get(t.Context(), article, backend.Query{Client: one, ID: 2})
				}
				return err
			})
			require.Error(t, err, name)
			require.False(t, errors.Is(err, backend.ErrNotFound), "%s: %v", name, err)
			require.False(t, errors.Is(err, backend.ErrChanged), "%s: %v", name, err)
			require.Equal(t, "first", x.get(one, "article", 1).Get("description").Text())
		}
		for range 20 { // more than there are connections
			x.update(one, 1, x.record("article", "description", "goes on"))
			x.update(one, 1, x.record("article", "description", "first"))
		}
	})
}
