package remote

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
)

// noting is a rack that notes when it was last asked what has changed, and answered.
type noting struct {
	*remotetest.Rack
	asked time.Time
}

func (s *noting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun := time.Now()
	s.Rack.ServeHTTP(w, r)
	s.Do(func() {
		if strings.Contains(r.URL.RawQuery, "since=") && !s.Away {
			s.asked = begun
		}
	})
}

// TestCopyThroughAnOutage lists while the service is away for ten minutes, in a bubble: each list is
// there and says how old it is to the second. What was written before is in it, and what was written
// meanwhile and after in the lists that follow; of writes in the meantime none is said to be done.
func TestCopyThroughAnOutage(t *testing.T) { synctest.Test(t, outage) }

func outage(t *testing.T) {
	s := &noting{Rack: remotetest.NewRack()}
	sheet := strings.NewReplacer("SINCE", remotetest.WithSince, "{max_age: 15m, every: 1h}", "{max_age: 15m, every: 10s}").Replace(remotetest.RackSheet)
	dial := inMemory(t, s)
	d := openDriver(t, sheet, "http://127.0.0.1:1", "", func(o *Options) { o.Dial = dial })
	contact, want := d.Sheet.Model.Resource("contact"), map[string]int{}
	for i := range 25 {
		want[fmt.Sprintf("N%02d", i)] = 1
	}
	write := func(name string) error {
		_, err := writer(t, d).Create(bg(), north, body(t, contact, fmt.Sprintf(`{"kind": "person", "name": %q}`, name)), backend.Write{})
		return err
	}
	for i := range 20 {
		name := fmt.Sprint("before ", i)
		require.NoError(t, write(name))
		want[name] = 1
	}
	holds := func(fresh bool) time.Duration {
		wish := &backend.Copy{Fresh: fresh}
		page, err := d.List(bg(), contact, backend.Query{Client: north, Limit: 1000, Copy: wish})
		assert.NoError(t, err)
		found := map[string]int{}
		for _, rec := range page.Records {
			found[rec.Get("name").String()]++
		}
		assert.Equal(t, want, found)
		return wish.Age
	}
	holds(false)

	last, oldest := time.Time{}, time.Duration(0)
	s.Do(func() { s.Away, last = true, s.asked })
	for n := range 600 {
		time.Sleep(time.Second)
		var lists sync.WaitGroup
		for range 1 + n%3 {
			lists.Go(func() { assert.InDelta(t, time.Since(last), holds(false), float64(time.Second)) })
		}
		lists.Wait()
		oldest = holds(false)
		if n%30 == 0 {
			require.Error(t, write("meanwhile"))
		}
	}
	require.InDelta(t, 10*time.Minute, oldest, float64(2*time.Second))
	for i := range 20 {
		name := fmt.Sprint("meanwhile ", i)
		s.Put("contacts", fmt.Sprint("m", i), map[string]any{"org": 1, "kind": "P", "name": name, "days": nil, "note": nil})
		want[name] = 1
	}
	s.Do(func() { s.Away = false })
	holds(true) // that it is back is known by who insists, or a second later
	require.InDelta(t, time.Since(last), holds(false), float64(time.Second), "what is deleted only a walk tells")
	time.Sleep(15 * time.Second)
	require.Zero(t, holds(false))
	require.NoError(t, write("after"))
	want["after"] = 1
	holds(false)
}

// TestCopyWaitsAsLongAsAsked: while a service answers that it is asked too often, lists that come each second
// poll it no sooner than it says.
func TestCopyWaitsAsLongAsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := remotetest.NewRack()
		var refuses atomic.Bool
		var refused atomic.Int64
		dial := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !refuses.Load() {
				s.ServeHTTP(w, r)
				return
			}
			refused.Add(1)
			refuse(w, "30")
		}))
		d := openDriver(t, strings.Replace(remotetest.RackSheet, "SINCE", remotetest.WithSince, 1), "http://127.0.0.1:1", "", func(o *Options) { o.Dial = dial })
		listed(t, d, north, "contact", "name")
		listed(t, d, north, "order", "number")
		refuses.Store(true)
		for range 60 {
			listed(t, d, north, "contact", "name")
			time.Sleep(time.Second)
		}
		require.Equal(t, int64(2), refused.Load())
		refuses.Store(false)
		time.Sleep(2 * time.Second)
		listed(t, d, north, "contact", "name") // begins a poll, and does not wait for it
		synctest.Wait()
		_, copied := listed(t, d, north, "contact", "name")
		require.Zero(t, copied.Age)
	})
}

// refuse says that a service is asked too often.
func refuse(w http.ResponseWriter, after string) {
	w.Header().Set("Retry-After", after)
	w.WriteHeader(http.StatusTooManyRequests)
}

// TestWalkOfAServiceWithABudget: a service that answers one request in 50 seconds is walked once, by one of
// two gateways, which keeps its lease through refusals and pauses.
func TestWalkOfAServiceWithABudget(t *testing.T) {
	for name, since := range map[string]string{"without polls": "", "with polls": remotetest.WithSince} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { budget(t, since) }) })
	}
}

func budget(t *testing.T, since string) {
	s := remotetest.NewRack()
	var last time.Time
	var refused atomic.Int64
	dial := inMemory(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		late := false
		s.Do(func() {
			if late = time.Since(last) < 50*time.Second; !late {
				last = time.Now()
			}
		})
		if late {
			refused.Add(1)
			refuse(w, "50")
			return
		}
		s.ServeHTTP(w, r)
	}))
	sheet, db := strings.NewReplacer("SINCE", since, "result: items,", "result: items, pause: 90s,").Replace(remotetest.RackSheet), keepDB(t, "")
	open := func() *Driver { return openOn(t, sheet, "http://127.0.0.1:1", db, func(o *Options) { o.Dial = dial }) }
	d, other := open(), open()
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	for _, gateway := range []*Driver{d, other} {
		page, err := gateway.List(ctx, gateway.Sheet.Model.Resource("contact"), backend.Query{Client: north, Limit: 1000})
		require.NoError(t, err)
		require.Len(t, page.Records, 25)
	}
	first := 0
	for _, call := range s.Seen() {
		if call == "GET /contacts?limit=10&page=1" {
			first++
		}
	}
	require.Equal(t, 1, first)
	require.Positive(t, refused.Load())
}
