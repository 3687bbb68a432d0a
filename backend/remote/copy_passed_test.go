package remote

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/remote/remotetest"
)

// crossed is a rack of which others ask while it answers: before and after are called once each,
// before the first call that fits is judged and after it is, while its answer is on its way.
type crossed struct {
	*remotetest.Rack
	fits          func(*http.Request) bool
	before, after func()
}

func (s *crossed) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	before, after := func() {}, func() {}
	s.Do(func() {
		if s.fits != nil && s.fits(r) {
			before, after, s.fits = s.before, s.after, nil
		}
	})
	before()
	answer := httptest.NewRecorder()
	s.Rack.ServeHTTP(answer, r)
	after()
	for name, values := range answer.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.Code)
	_, _ = w.Write(answer.Body.Bytes())
}

// crossing opens a Driver in front of a rack whose calls cross.
func crossing(t *testing.T, since string) (*Driver, *crossed) {
	s := &crossed{Rack: remotetest.NewRack(), before: func() {}, after: func() {}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	return openDriver(t, strings.Replace(remotetest.RackSheet, "SINCE", since, 1), server.URL, ""), s
}

// TestCopyPassedByReads has the newest of a record that is read while it is asked what has changed,
// or while it is walked: it is not told again.
func TestCopyPassedByReads(t *testing.T) {
	for what, since := range map[string]string{"changed since": remotetest.TellsSince, "walked": "every: 1h"} {
		t.Run(what, func(t *testing.T) {
			d, s := crossing(t, since)
			contact := d.Sheet.Model.Resource("contact")
			id := idOf(t, d, north, "N01")
			s.Do(func() {
				s.fits = func(r *http.Request) bool { return r.URL.Path == "/contacts" }
				s.before = func() {
					s.Put("contacts", "c01", map[string]any{"name": "Between"})
					rec, err := d.Get(bg(), contact, backend.Query{Client: north, ID: id})
					assert.NoError(t, err)
					assert.Equal(t, "Between", rec.Get("name").Text())
					s.Put("contacts", "c01", map[string]any{"name": "Newest"})
				}
			})
			all, _ := listed(t, d, north, "contact", "name", fromService)
			assert.Contains(t, all, "Newest")
			assert.NotContains(t, all, "Between")
		})
	}
}

// TestCopyPassedByWrites keeps what was written through the gateway, or found by another read, while
// an older answer was on its way.
func TestCopyPassedByWrites(t *testing.T) {
	d, s := crossing(t, "every: 1h")
	contact := d.Sheet.Model.Resource("contact")
	c := writer(t, d)
	id, other := idOf(t, d, north, "N01"), idOf(t, d, north, "N02")
	s.Put("contacts", "c01", map[string]any{"note": "by others"})
	s.Do(func() {
		s.fits = func(r *http.Request) bool { return r.URL.Path == "/contacts/c01" }
		s.after = func() {
			_, err := c.Update(bg(), north, id, patch(t, contact, `{"name": "Written"}`), backend.Write{})
			assert.NoError(t, err)
		}
	})
	rec, err := d.Get(bg(), contact, backend.Query{Client: north, ID: id})
	require.NoError(t, err)
	assert.Equal(t, "Written", rec.Get("name").Text())

	s.Do(func() {
		s.fits = func(r *http.Request) bool { return r.Method == "PATCH" }
		s.after = func() {
			s.Put("contacts", "c02", map[string]any{"name": "Written by others"})
			_, err := d.Get(bg(), contact, backend.Query{Client: north, ID: other})
			assert.NoError(t, err)
		}
	})
	_, err = c.Update(bg(), north, other, patch(t, contact, `{"name": "Written before"}`), backend.Write{})
	require.NoError(t, err)
	all, _ := listed(t, d, north, "contact", "name")
	assert.Subset(t, all, []string{"Written", "Written by others"})
	assert.NotContains(t, all, "Written before")
}

// TestCopyOfALostLease: a walk whose lease another gateway has got while a page was asked for changes nothing.
func TestCopyOfALostLease(t *testing.T) {
	d, s := crossing(t, "every: 1h")
	listed(t, d, north, "contact", "name")
	p := d.copy.sources[d.Sheet.Model.Resource("contact")].of(d.copy, north)
	s.Put("contacts", "c01", map[string]any{"name": "Seen too late"})
	s.Do(func() {
		s.fits = func(r *http.Request) bool { return r.URL.Path == "/contacts" }
		s.after = func() {
			_, err := d.copy.set(bg(), p, "holder = 'another', until = now() + 60000", "")
			assert.NoError(t, err)
		}
	})
	require.ErrorIs(t, d.copy.walk(bg(), p), errOthers)
	all, _ := listed(t, d, north, "contact", "name")
	assert.Contains(t, all, "N01")
	assert.NotContains(t, all, "Seen too late")
}

// TestCopyPassedByGateways brings in what a gateway reads, also where it remembers another state of
// a copy that it shares.
func TestCopyPassedByGateways(t *testing.T) {
	s := remotetest.NewRack()
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	db, text := keepDB(t, ""), strings.Replace(remotetest.RackSheet, "SINCE", "every: 1h", 1)
	one, other := openOn(t, text, server.URL, db), openOn(t, text, server.URL, db)
	id := idOf(t, one, north, "N01")
	for n, d := range []*Driver{one, other, one, one, other, other, one} {
		name := fmt.Sprint("Name ", n)
		s.Put("contacts", "c01", map[string]any{"name": name})
		for range 2 {
			rec, err := d.Get(bg(), d.Sheet.Model.Resource("contact"), backend.Query{Client: north, ID: id})
			require.NoError(t, err)
			assert.Equal(t, name, rec.Get("name").Text())
		}
		for _, d := range []*Driver{one, other} {
			all, _ := listed(t, d, north, "contact", "name")
			assert.Contains(t, all, name)
		}
	}
}
