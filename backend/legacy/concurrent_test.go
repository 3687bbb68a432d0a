package legacy

import (
	"context"
	"crypto/rand"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/backend"
	"frontdesk/mapping"
)

const parallel = 16

// together runs f at once on many goroutines and returns its errors.
func together(f func(n int) error) []error {
	errs := make([]error, parallel)
	var begin, done sync.WaitGroup
	begin.Add(1)
	for n := range parallel {
		done.Go(func() {
			begin.Wait()
			errs[n] = f(n)
		})
	}
	begin.Done()
	done.Wait()
	return errs
}

// requireOne wants one to have succeeded and the others to have been told why not.
func requireOne(t *testing.T, errs []error, reason mapping.Reason) {
	t.Helper()
	succeeded := 0
	for _, err := range errs {
		if err == nil {
			succeeded++
			continue
		}
		require.True(t, mapping.Is(err, reason), "%v", err)
	}
	require.Equal(t, 1, succeeded)
}

func TestOneOwnerUnderConcurrency(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		records := newRecords(x)
		vehicle := x.create(one, records["vehicle"][0])
		role := records["vehicleroleline"][0]
		role.Set("vehicle_id", vehicle.Values[vehicle.Resource.ID])
		role.Set("role", mapping.TextValue("owner"))
		requireOne(t, together(func(int) error {
			_, err := x.tryCreate(one, role)
			return err
		}), mapping.SecondOwner)
	})
}

func TestOnePlateUnderConcurrency(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		vehicle := newRecords(x)["vehicle"][0]
		vehicle.Set("vin", mapping.NullValue())
		create := func(int) error {
			_, err := x.tryCreate(one, vehicle)
			return err
		}
		requireOne(t, together(create), mapping.DuplicateValue)

		// Many a table lacks the index that would have told.
		drop := map[string]string{"mariadb": "ALTER TABLE VTG ADD KEY IX_VTG_BEDR (BEDRNR), DROP KEY UQ_VTG_KENT", "postgres": `ALTER TABLE "VTG" DROP CONSTRAINT "UQ_VTG_KENT"`}[x.engine]
		if drop == "" {
			return // SQLite's tables cannot be changed so
		}
		_, err := x.db.ExecContext(t.Context(), drop)
		require.NoError(t, err)
		vehicle.Set("license_plate", mapping.TextValue("GT-124-B"))
		requireOne(t, together(create), mapping.DuplicateValue)
	})
}

func TestLinesOfOneOrderUnderConcurrency(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		records := newRecords(x)
		order := x.create(one, records["order"][0])
		line := records["orderline"][0]
		line.Set("order_id", order.Values[order.Resource.ID])
		for _, err := range together(func(int) error {
			_, err := x.tryCreate(one, line)
			return err
		}) {
			require.NoError(t, err)
		}
		if x.engine != "sqlite" { // without triggers
			after := x.get(one, "order", order.ID())
			require.Equal(t, "272", after.Get("total_excl").String()) // 16 × 17.00
		}
	})
}

func TestOrderNumbersUnderConcurrency(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		order := newRecords(x)["order"][0]
		var mu sync.Mutex
		numbers := map[string]bool{}
		for _, err := range together(func(int) error {
			stored, err := x.tryCreate(one, order)
			if err == nil {
				mu.Lock()
				defer mu.Unlock()
				numbers[stored.Get("number").Text()] = true
			}
			return err
		}) {
			require.NoError(t, err)
		}
		require.Len(t, numbers, parallel)
	})
}

// TestCollisionsEnd: while somebody holds the database, one write tries a number of
// times and then says when to come back, and the circuit stays closed. Before, the rules
// looked again after the driver had given up, and one POST began 144 transactions.
func TestCollisionsEnd(t *testing.T) {
	x := open(t, "sqlite")
	logged, told := observer.New(zap.DebugLevel)
	s, err := Open(t.Context(), Options{Sheet: x.sheet, IDStore: x.idStore, Now: x.now, Random: rand.Reader, LockWait: time.Millisecond, Log: zap.New(logged)})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var calls []backend.Call
	front, err := backend.NewClient(s, x.model, backend.Options{
		Timeout: 30 * time.Second, CircuitFailures: 1, Observe: func(_ context.Context, c backend.Call) { calls = append(calls, c) },
	})
	require.NoError(t, err)

	holder, err := x.db.Conn(t.Context())
	require.NoError(t, err)
	defer holder.Close()
	_, err = holder.ExecContext(t.Context(), "BEGIN IMMEDIATE")
	require.NoError(t, err)
	vehicle := newRecords(x)["vehicle"][0]
	_, err = front.Create(t.Context(), one, mapping.BodyOf(vehicle), backend.Write{})
	require.True(t, mapping.Is(err, mapping.BackendUnavailable), "%v", err)
	require.ErrorIs(t, err, backend.ErrCollision)
	found, _ := mapping.AsViolations(err)
	require.Positive(t, found[0].RetryAfter)
	collided := told.FilterMessage("a transaction collided with another one").Len()
	require.Greater(t, collided, 10, "it tries for a while")
	require.Less(t, collided, 30)
	require.Equal(t, backend.Busy, calls[0].Outcome)
	require.Equal(t, "closed", front.State())

	_, err = holder.ExecContext(t.Context(), "ROLLBACK")
	require.NoError(t, err)
	_, err = front.Create(t.Context(), one, mapping.BodyOf(vehicle), backend.Write{})
	require.NoError(t, err)
}

// TestRowThatTheVendorHolds: before, the last wait for a row was ended by the deadline of
// the request and told as a time-out of the database: ten changes to an order that
// somebody had open on his screen closed orders to everybody.
func TestRowThatTheVendorHolds(t *testing.T) {
	for engine, waits := range map[string]struct{ lock, all time.Duration }{
		"postgres": {300 * time.Millisecond, 4 * time.Second},
		"mariadb":  {time.Second, 4500 * time.Millisecond}, // it waits for whole seconds
	} {
		t.Run(engine, func(t *testing.T) {
			x := open(t, engine)
			s, err := Open(t.Context(), Options{Sheet: x.sheet, IDStore: x.idStore, Now: x.now, Random: rand.Reader, LockWait: waits.lock})
			require.NoError(t, err)
			defer func() { require.NoError(t, s.Close()) }()
			var calls []backend.Call
			front, err := backend.NewClient(s, x.model, backend.Options{
				Timeout: waits.all, CircuitFailures: 1, Observe: func(_ context.Context, c backend.Call) { calls = append(calls, c) },
			})
			require.NoError(t, err)
			contact := x.all(one, "contact")[0]
			rename := func(name string) error {
				_, err := front.Update(t.Context(), one, contact.ID(), mapping.BodyOf(x.record("contact", "name", name)), backend.Write{})
				return err
			}

			vendor, err := x.db.BeginTx(t.Context(), nil)
			require.NoError(t, err)
			defer func() { _ = vendor.Rollback() }()
			_, err = vendor.ExecContext(t.Context(), "SELECT * FROM "+x.quoted("REL")+" FOR UPDATE")
			require.NoError(t, err)
			err = rename("Held")
			require.True(t, mapping.Is(err, mapping.BackendUnavailable), "%v", err)
			require.ErrorIs(t, err, backend.ErrCollision)
			found, _ := mapping.AsViolations(err)
			require.Positive(t, found[0].RetryAfter)
			require.Equal(t, backend.Busy, calls[0].Outcome)
			require.Equal(t, "closed", front.State())

			require.NoError(t, vendor.Rollback())
			require.NoError(t, rename("Free"))
		})
	}
}
