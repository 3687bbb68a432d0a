package remote

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord/sqltest"
)

// noting is a rack that notes when it was last asked what has changed, with an answer, and since when
// it is away.
type noting struct {
	*remotetest.Rack
	mu    sync.Mutex
	asked time.Time
}

func (s *noting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	begun, away := time.Now(), false
	s.Do(func() { away = s.Away })
	s.Rack.ServeHTTP(w, r)
	if strings.Contains(r.URL.RawQuery, "since=") && !away {
		s.mu.Lock()
		s.asked = begun
		s.mu.Unlock()
	}
}

// TestCopySoakOutage lists 200 times a second while the service is away for ten minutes: each list is
// there and says how old it is to the second. What was written before is in it, and what was written
// meanwhile and after in the lists that follow; of writes in the meantime none is said to be done.
func TestCopySoakOutage(t *testing.T) {
	if !sqltest.Soak() {
		t.Skip("takes minutes")
	}
	const outage, persecond = 10 * time.Minute, 200
	s := &noting{Rack: remotetest.NewRack()}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	d := openDriver(t, strings.Replace(strings.Replace(remotetest.RackSheet, "SINCE", remotetest.TellsSince, 1), "{max_age: 15m, every: 1h}", "{max_age: 15m, every: 10s}", 1), server.URL, "")
	contact := d.Sheet.Model.Resource("contact")
	want := map[string]bool{}
	for i := range 25 {
		want[fmt.Sprintf("N%02d", i)] = true
	}
	write := func(name string) error {
		_, err := writer(t, d).Create(bg(), north, body(t, contact, fmt.Sprintf(`{"kind": "person", "name": %q}`, name)), backend.Write{})
		return err
	}
	for i := range 20 {
		name := fmt.Sprint("before ", i)
		require.NoError(t, write(name))
		want[name] = true
	}
	list := func(fresh bool) (map[string]int, *backend.Copy, error) {
		wish := &backend.Copy{Fresh: fresh}
		page, err := d.List(bg(), contact, backend.Query{Client: north, Limit: 1000, Copy: wish})
		found := map[string]int{}
		for _, rec := range page.Records {
			found[rec.Get("name").String()]++
		}
		return found, wish, err
	}
	holds := func(found map[string]int) {
		require.Len(t, found, len(want))
		for name, n := range found {
			require.True(t, n == 1 && want[name], "%d of %s", n, name)
		}
	}
	found, _, err := list(false)
	require.NoError(t, err)
	holds(found)

	s.Do(func() { s.Away = true })
	s.mu.Lock()
	last := s.asked
	s.mu.Unlock()
	var lists sync.WaitGroup
	read, oldest := 0, time.Duration(0)
	var mu sync.Mutex
	tick := time.NewTicker(time.Second / persecond)
	defer tick.Stop()
	for end, n := time.Now().Add(outage), 1; time.Now().Before(end); n++ {
		<-tick.C
		lists.Go(func() {
			begun := time.Since(last)
			found, wish, err := list(false)
			ended := time.Since(last)
			mu.Lock()
			defer mu.Unlock()
			read, oldest = read+1, max(oldest, wish.Age)
			if err != nil || len(found) != len(want) || wish.Age < begun-time.Second || wish.Age > ended+time.Second {
				t.Errorf("a list of %d, %s old where it is between %s and %s: %v", len(found), wish.Age, begun, ended, err)
			}
		})
		if n%1000 == 0 {
			require.Error(t, write("meanwhile"))
		}
	}
	lists.Wait()
	t.Logf("%d lists, the oldest %s", read, oldest)
	require.Greater(t, oldest, outage-2*time.Second)
	for i := range 20 {
		name := fmt.Sprint("meanwhile ", i)
		s.Put("contacts", fmt.Sprint("m", i), map[string]any{"org": 1, "kind": "P", "name": name, "days": nil, "note": nil})
		want[name] = true
	}
	s.Do(func() { s.Away = false })
	for _, fresh := range []bool{true, false} { // that it is back is known by who insists, or a second later
		found, wish, err := list(fresh)
		require.NoError(t, err)
		require.Zero(t, wish.Age)
		holds(found)
	}
	require.NoError(t, write("after"))
	want["after"] = true
	found, _, err = list(false)
	require.NoError(t, err)
	holds(found)
}
