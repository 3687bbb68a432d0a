package drivertest

import (
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// Record makes a record of field, value pairs, of which "null" is null. Each value is parsed as the
// field is, so that decimals are exact.
func Record(t testing.TB, r *mapping.Resource, pairs ...string) mapping.Record {
	t.Helper()
	rec := mapping.NewRecord(r)
	for i := 0; i < len(pairs); i += 2 {
		f := r.Field(pairs[i])
		require.NotNil(t, f, pairs[i])
		v := mapping.NullValue()
		if pairs[i+1] != "null" {
			parsed, err := f.Parse(pairs[i+1], time.UTC)
			if err != nil {
				t.Fatal(pairs[i], err)
			}
			v = parsed
		}
		rec.Set(pairs[i], v)
	}
	return rec
}

// Together runs f on so many goroutines at once and returns what each got.
func Together(n int, f func(i int) error) []error {
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

// Resident is how much memory this process has, in bytes.
func Resident(t testing.TB) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("the system does not tell the memory of a process: ", err)
	}
	var size, pages int64
	_, err = fmt.Sscan(string(text), &size, &pages)
	require.NoError(t, err)
	return pages * int64(os.Getpagesize())
}
