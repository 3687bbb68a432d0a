package legacy

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/drivertest"
	"frontdesk/backend/sqlrecord"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

const parallel = 16

// TestConcurrentCreates has many create the same at once: a second owner and a second plate are
// refused, also where a table lacks the index that would have told; lines of one order are all
// there, and every order has a number of its own.
func TestConcurrentCreates(t *testing.T) {
	onDealerpak(t, func(t *testing.T, x *tables) {
		records := newRecords(x)
		creates := func(rec mapping.Record, but mapping.Reason) {
			t.Helper()
			failed := 0
			for _, err := range drivertest.Together(parallel, func(int) error {
				_, err := x.tryCreate(one, rec)
				return err
			}) {
				require.True(t, err == nil || mapping.Is(err, but), "%v", err)
				failed += b2i(err != nil)
			}
			require.Equal(t, b2i(but != "")*(parallel-1), failed)
		}
		of := func(name, field string, value mapping.Value) mapping.Record {
			rec := records[name][0].Clone()
			rec.Set(field, value)
			return rec
		}
		vehicle, order := x.create(one, records["vehicle"][0]), x.create(one, records["order"][0])
		owner := of("vehicleroleline", "vehicle_id", vehicle.Get("id"))
		owner.Set("role", mapping.TextValue("owner"))
		creates(owner, mapping.SecondOwner)

		plate := of("vehicle", "vin", mapping.NullValue())
		plate.Set("license_plate", mapping.TextValue("GT-124-B"))
		creates(plate, mapping.DuplicateValue)
		drop := map[string]string{"mariadb": "ALTER TABLE VTG ADD KEY IX_VTG_BEDR (BEDRNR), DROP KEY UQ_VTG_KENT", "postgres": `ALTER TABLE "VTG" DROP CONSTRAINT "UQ_VTG_KENT"`}[x.engine]
		if drop != "" { // SQLite's tables cannot be changed so
			x.exec(drop)
			plate.Set("license_plate", mapping.TextValue("GT-125-B"))
			creates(plate, mapping.DuplicateValue)
		}

		creates(of("orderline", "order_id", order.Get("id")), "")
		if x.engine != "sqlite" { // without triggers
			require.Equal(t, "272", x.get(one, "order", order.ID()).Get("total_excl").String()) // 16 × 17.00
		}
		before, numbers := len(x.list(one, "order")), map[string]bool{}
		creates(records["order"][0], "")
		for _, rec := range x.list(one, "order") {
			numbers[rec.Get("number").Text()] = true
		}
		require.Len(t, numbers, before+parallel)
	})
}

// TestRowThatTheVendorHolds: while somebody holds a row, or the whole database, a write tries for
// a while and then says when to come back. It is no failure of the database, and closes nothing to
// others.
func TestRowThatTheVendorHolds(t *testing.T) {
	for engine, waits := range map[string]struct{ lock, all time.Duration }{
		"sqlite":   {time.Millisecond, time.Hour},
		"postgres": {20 * time.Millisecond, time.Hour},
		"mariadb":  {time.Second, 4500 * time.Millisecond}, // it waits for whole seconds, and for the others all tries end
	} {
		t.Run(engine, func(t *testing.T) {
			x := dealerpak(t, engine)
			s, err := Open(t.Context(), Options{Sheet: x.sheet, IDStore: x.ids, Now: x.now, LockWait: waits.lock})
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			told := &outcomes{}
			front, err := backend.NewClient(s, x.model, backend.Options{Timeout: waits.all, CircuitFailures: 1, Observe: told.add})
			require.NoError(t, err)
			contact := x.list(one, "contact")[0]
			rename := func(name string) error {
				_, err := front.Update(t.Context(), one, contact.ID(), mapping.BodyOf(x.record("contact", "name", name)), backend.Write{})
				return err
			}
			require.NoError(t, x.beside().Write(t.Context(), func(c sqlrecord.Conn) error {
				_, held := c.Exec(t.Context(), x.spelled("UPDATE #REL# SET #MEMO# = 'held'"))
				err = rename("Held")
				return held
			}))
			require.True(t, mapping.Is(err, mapping.BackendUnavailable), "%v", err)
			require.ErrorIs(t, err, backend.ErrCollision)
			found, _ := mapping.AsViolations(err)
			require.Positive(t, found[0].RetryAfter)
			require.Equal(t, []backend.Outcome{backend.Busy}, told.all)
			require.Equal(t, "closed", front.State())
			require.NoError(t, rename("Free"))
		})
	}
}

// TestCallsLeaveConnections: where all calls that may be under way hang, users log in, the
// database answers when it is asked whether it does, and a backup is made.
func TestCallsLeaveConnections(t *testing.T) {
	onDealerpak(t, func(t *testing.T, x *tables) {
		n := x.Pool().Calls
		has, enough, ended := make(chan struct{}), make(chan struct{}), make(chan error)
		for range n {
			go func() {
				ended <- x.db.Read(context.Background(), func(sqlrecord.Conn) error {
					has <- struct{}{}
					<-enough
					return nil
				})
			}()
		}
		for range n {
			<-has
		}
		defer func() {
			close(enough)
			for range n {
				require.NoError(t, <-ended)
			}
		}()
		require.NoError(t, x.Ping(t.Context()))
		_, err := x.Verify(t.Context(), auth.Credentials{Username: "sanne.bos", Password: "Welkom01"})
		require.NoError(t, err)
		_, err = x.Export(t.Context(), one, io.Discard)
		require.NoError(t, err)
		require.Equal(t, n, x.Pool().InUse)
	})
}

// TestKeyOfAnotherForm: an ID from before the sheet's key got another part is no failure of the
// database.
func TestKeyOfAnotherForm(t *testing.T) {
	x := dealerpak(t, "sqlite")
	ref := sheet.KeyRef{Resource: "turnovergroup", Client: one.ID, Key: "A|B|C"}
	ids, err := x.ids.IDs(t.Context(), []sheet.KeyRef{ref})
	require.NoError(t, err)
	_, err = x.tryGet(one, "turnovergroup", ids[ref])
	require.ErrorIs(t, err, errKeyForm)
	require.Equal(t, []backend.Outcome{backend.Unexpected}, x.calls.all)
}

// TestSeveralShareATransaction: what is refused leaves the others as they are, also where the
// database finds it when the transaction ends; and under a key all is done once.
func TestSeveralShareATransaction(t *testing.T) {
	onBothMemories(t, func(t *testing.T, x *tables) {
		if x.engine == "postgres" {
			x.exec(`ALTER TABLE rel ADD CONSTRAINT late EXCLUDE (naam WITH =) WHERE (naam LIKE 'late%') DEFERRABLE INITIALLY DEFERRED`)
		}
		x.severalOnce(x.answers != "")
	})
}

// severalOnce adds several contacts together, two of which are refused; under a key where the
// database keeps answers.
func (x *tables) severalOnce(once bool) {
	t, r := x.t, x.model.Resource("contact")
	require.Equal(t, backend.MostTogether, x.front.Together(r, mapping.OpCreate, false))
	require.Equal(t, once, x.front.Together(r, mapping.OpCreate, true) > 1, "the gateway's own store takes a key once")
	run := func() (done []int32, recalled int) {
		s := &backend.Several{Client: one, Resource: r}
		if once {
			s.Idempotency = &backend.Idempotency{Key: "several", Sum: [32]byte{1}}
		}
		for i, name := range []string{"one", "late", "three", "four", "late", "six"} {
			number := []string{"a", "b", "c", "a", "e", "f"}[i] // the fourth has that of the first
			s.Items = append(s.Items, &backend.Item{Body: mapping.BodyOf(x.record("contact", "name", name, "company_number", number))})
		}
		written := func() (ids []int32) {
			for _, item := range s.Items {
				ids = append(ids, item.Written)
			}
			return ids
		}
		s.Answer = func() []byte {
			data, err := json.Marshal(written())
			require.NoError(t, err)
			return data
		}
		s.Recalled = func(stored []byte) error {
			var ids []int32
			require.NoError(t, json.Unmarshal(stored, &ids))
			for i, id := range ids {
				s.Items[i].Done, s.Items[i].Written = s.Items[i].Done || id != 0, id
				recalled++
			}
			return nil
		}
		require.NoError(t, x.front.WriteSeveral(t.Context(), s))
		return written(), recalled
	}
	done, _ := run()
	written := 0
	for i, id := range done {
		refused := i == 3 || i == 4 && x.engine == "postgres"
		require.Equal(t, refused, id == 0, "%d of %v", i, done)
		written += b2i(!refused)
	}
	require.Len(t, x.list(one, "contact"), written)
	if once {
		again, recalled := run()
		require.NotZero(t, recalled)
		require.Equal(t, done, again)
		require.Len(t, x.list(one, "contact"), written)
	}
}

// onBothMemories runs f with answers kept in the id store, and in a table.
func onBothMemories(t *testing.T, f func(t *testing.T, x *tables)) {
	eachEngine(t, func(t *testing.T, engine string) {
		for _, name := range []string{"kept", "in a table"} {
			t.Run(name, func(t *testing.T) { f(t, scripted(t, "once.txt", name).open(t, engine)) })
		}
	})
}

func TestAnIdempotencyKeyInUse(t *testing.T) {
	onBothMemories(t, func(t *testing.T, x *tables) {
		if x.engine == "sqlite" {
			return // whoever is second waits until the first has ended
		}
		var mark int64
		undone := errors.New("undone")
		err := x.Write(t.Context(), func(tx backend.Tx) error {
			_, err := tx.Recall(t.Context(), one, "busy")
			require.NoError(t, err)
			if x.answers == "" { // two that are under way at once: the first to commit has it
				_, err = x.Recall(t.Context(), one, "busy")
				require.NoError(t, err)
				mark, err = x.ids.Begin(t.Context(), one, "busy")
				require.NoError(t, err)
				return tx.Remember(t.Context(), one, "busy", backend.StoredAnswer{})
			}
			_, err = x.Recall(t.Context(), one, "busy")
			require.True(t, mapping.Is(err, mapping.IdempotencyInUse), "%v", err)
			return undone
		})
		if x.answers == "" {
			require.ErrorIs(t, err, backend.ErrStale)
			_, err = x.Recall(t.Context(), one, "busy")
			require.True(t, mapping.Is(err, mapping.IdempotencyInUse), "%v", err)
			require.NoError(t, x.ids.Abandon(t.Context(), one, "busy", mark))
		} else {
			require.ErrorIs(t, err, undone)
		}
		memo, err := x.Recall(t.Context(), one, "busy")
		require.NoError(t, err)
		require.Nil(t, memo)
	})
}
