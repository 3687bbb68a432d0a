package reference

import (
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

// together runs f on so many goroutines at once and returns what each got.
func together(n int, f func(i int) error) []error {
	errs := make([]error, n)
	var start, end sync.WaitGroup
	start.Add(1)
	for i := range n {
		end.Go(func() {
			start.Wait()
			errs[i] = f(i)
		})
	}
	start.Done()
	end.Wait()
	return errs
}

func TestNumbersUnderConcurrentCreates(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		const each, goroutines = 8, 32
		errs := together(goroutines, func(i int) error {
			for range each {
				rec := s.record("contact", "kind", "person", "name", "Visser")
				if i%4 == 0 { // refused after its number was given
					rec.Set("id", mapping.IntValue(int64(s.contact.ID())))
				}
				_, err := s.Create(bg(), s.mine, rec)
				if i%4 == 0 && err == nil {
					return fmt.Errorf("an ID was used twice")
				}
				if i%4 != 0 && err != nil {
					return err
				}
			}
			return nil
		})
		for _, err := range errs {
			require.NoError(t, err)
		}
		seen := map[string]bool{}
		for _, c := range s.all(s.mine, "contact") {
			seen[c.Get("number").Text()] = true
		}
		require.Len(t, seen, 1+each*goroutines*3/4)
		for n := range len(seen) {
			require.True(t, seen[fmt.Sprintf("C%06d", n+1)], "number %d is missing", n+1)
		}
	})
}

func TestTotalsUnderConcurrentLines(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		o := s.order()
		for _, err := range together(32, func(i int) error {
			// Past the rules, which would hold the order themselves.
			_, err := s.Create(bg(), s.mine, s.lineOf(o, "high", "1", strconv.Itoa(i)))
			return err
		}) {
			require.NoError(t, err)
		}
		require.EqualValues(t, 33, s.requireTotals(o.ID(), "496", "600.16").Version)
	})
}

func TestOneOwner(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		v := s.create(s.mine, s.record("vehicle", "license_plate", "GT-123-B", "brand", "Fiat", "model", "500"))
		won := 0
		for _, err := range together(32, func(int) error {
			rec := s.record("vehicleroleline", "vehicle_id", fmt.Sprint(v.ID()), "contact_id", fmt.Sprint(s.contact.ID()), "role", "owner")
			_, err := s.front.Create(bg(), s.mine, mapping.BodyOf(rec), backend.Write{})
			return err
		}) {
			if err == nil {
				won++
				continue
			}
			require.True(t, mapping.Is(err, mapping.SecondOwner), "%v", err)
		}
		require.Equal(t, 1, won)
		require.Len(t, s.all(s.mine, "vehicleroleline"), 1)
	})
}

func TestOnceUnderConcurrency(t *testing.T) {
	onEngines(t, func(t *testing.T, x *fixture) {
		s := newShop(x, "A")
		write := backend.Write{Idempotency: &backend.Idempotency{Key: "k", Answer: func(rec mapping.Record) []byte { return fmt.Append(nil, rec.ID()) }}}
		created, replayed, busy := 0, 0, 0
		for _, err := range together(32, func(int) error {
			_, err := s.front.Create(bg(), s.mine, mapping.BodyOf(s.record("contact", "kind", "person", "name", "Visser")), write)
			return err
		}) {
			var again *backend.Replay
			switch {
			case err == nil:
				created++
			case mapping.Is(err, mapping.IdempotencyInUse):
				busy++
			default:
				require.ErrorAs(t, err, &again)
				replayed++
			}
		}
		require.Equal(t, 1, created)
		require.Equal(t, 31, replayed+busy)
		require.Len(t, s.all(s.mine, "contact"), 2)
	})
}
