package records

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestListsOfACopy: a list says how old it is, and is as fresh as the request wants it; what was
// written through the gateway is in it at once.
func TestListsOfACopy(t *testing.T) {
	t.Parallel()
	s := newCardfile(t)
	d := s.desk(seldom, "", "")
	began := time.Now()
	token := d.Login(rig.FullKey, "noord")
	names, age := contacts(d, token)
	require.Equal(t, []string{"Card 1", "Card 3", "Card 5", "Card 7", "Card 9"}, names)
	require.LessOrEqual(t, age, time.Since(began))
	s.asked()

	s.behind(func() { s.put(map[string]any{"id": 3, "name": "Changed behind"}) })
	names, _ = contacts(d, token)
	require.Contains(t, names, "Card 3")
	names, _ = contacts(d, token, "Cache-Control", "max-age=3600")
	require.Contains(t, names, "Card 3")
	require.Zero(t, s.asked(), "the copy is young enough")
	wanted := time.Now()
	names, age = contacts(d, token, "Cache-Control", "no-cache")
	require.Contains(t, names, "Changed behind")
	require.NotContains(t, names, "Card 3")
	require.LessOrEqual(t, age, time.Since(wanted))
	s.behind(func() { s.put(map[string]any{"id": 3, "name": "Changed again"}) })
	names, _ = contacts(d, token, "Cache-Control", "max-age=0")
	require.Contains(t, names, "Changed again")

	s.asked()
	require.Equal(t, 200, d.Call("PUT", "/contact/5", token, `{"name":"Changed here"}`).Status)
	made := d.Create(token, "contact", `{"kind":"person","name":"Made here"}`)
	require.Equal(t, 200, d.Call("DELETE", "/contact/7", token, "").Status)
	names, _ = contacts(d, token)
	require.Equal(t, []string{"Card 1", "Changed again", "Changed here", "Card 9", "Made here"}, names)
	require.Zero(t, s.asked())
	one := d.Call("GET", fmt.Sprintf("/contact/%d", made), token, "")
	require.Equal(t, 200, one.Status)
	require.Empty(t, one.Header.Get("Age"), "a single record is the service's")
	others, _ := contacts(d, d.Login(rig.FullKey, "zuid"))
	require.Equal(t, []string{"Card 2", "Card 4", "Card 6", "Card 8", "Card 10"}, others)

	builtIn := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	list := builtIn.Call("GET", "/contact?page_size=1", builtIn.Login(rig.FullKey, "demo"), "", "Cache-Control", "no-cache")
	require.Equal(t, 200, list.Status)
	require.Empty(t, list.Header.Get("Age"), "the built-in administration has no copy")
}

// TestListsAskWhatHasChanged: a service that tells what has changed is asked before each list, once
// for all that wait.
func TestListsAskWhatHasChanged(t *testing.T) {
	t.Parallel()
	s := newCardfile(t)
	d := s.desk(seldom, sinceRevision, "")
	token := d.Login(rig.FullKey, "noord")
	contacts(d, token)
	s.behind(func() {
		s.put(map[string]any{"id": 3, "name": "Changed behind"})
		s.put(map[string]any{"org": 1, "kind": "person", "name": "Made behind"})
	})
	s.asked()
	names, age := contacts(d, token)
	require.Equal(t, []string{"Card 1", "Changed behind", "Card 5", "Card 7", "Card 9", "Made behind"}, names)
	require.Zero(t, age)
	require.Equal(t, 1, s.asked())

	const lists = 12
	came, release := make(chan struct{}, lists), make(chan struct{})
	s.behind(func() {
		s.instead = func(http.ResponseWriter, *http.Request) bool {
			came <- struct{}{}
			<-release
			return false
		}
	})
	var all sync.WaitGroup
	for range lists {
		all.Go(func() {
			a, err := d.Try("GET", "/contact?page_size=100", token, "")
			if err == nil && a.Status != 200 {
				err = fmt.Errorf("%d %s", a.Status, a.Body)
			}
			require.NoError(t, err)
		})
	}
	<-came
	await.True(t, func() bool {
		return strings.Contains(string(d.AskOps("/metrics").Body), fmt.Sprintf("\nfrontdesk_backend_calls_running %d\n", lists))
	})
	close(release)
	all.Wait()
	require.LessOrEqual(t, s.asked(), 3, "once for who came first, once for all others, and once for who was late")
}

// TestBeforeACopyIsWhole: there is no list of a part.
func TestBeforeACopyIsWhole(t *testing.T) {
	t.Parallel()
	s := newCardfile(t)
	release := make(chan struct{})
	s.instead = func(_ http.ResponseWriter, r *http.Request) bool {
		if r.FormValue("from") == "6" { // its third page
			<-release
		}
		return false
	}
	d := s.desk(seldom, "", ", timeout: 1s")
	token := d.Login(rig.FullKey, "noord")
	for _, path := range []string{"/contact", "/contact?name=Card+1", "/changes?resource=contact"} {
		a := d.Call("GET", path, token, "")
		require.Equal(t, "backend_unavailable", a.Failure(t).Reason, "%s", a.Body)
		require.Equal(t, 500, a.Status)
		require.NotEmpty(t, a.Header.Get("Retry-After"), path)
	}
	require.Equal(t, 200, d.Call("GET", "/contact/1", token, "").Status, "one record is read from the service")
	close(release)
	await.True(t, func() bool { return d.Call("GET", "/contact", token, "").Status == 200 })
}

// TestServiceAway: while a service is away lists are those of the copy, up to copy.max_age, and a
// record is the copy's for who asks for that and may.
func TestServiceAway(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]string{"since": sinceRevision, "walks": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCardfile(t)
			d := s.desk(seldom, since, "")
			token, stale := d.Login(rig.FullKey, "noord"), d.Login(staleKey, "noord")
			contacts(d, token)
			s.behind(func() {
				s.instead = func(w http.ResponseWriter, _ *http.Request) bool {
					w.WriteHeader(http.StatusServiceUnavailable)
					return true
				}
			})
			away := time.Now()
			for range 15 { // more than a circuit takes
				a := d.Call("GET", "/contact/3", token, "", "Cache-Control", "stale-if-error=3600")
				require.Equal(t, 500, a.Status, "the key has no stale: true")
				require.Equal(t, "backend_unavailable", a.Failure(t).Reason)
			}
			for range 3 {
				names, age := contacts(d, token)
				require.Len(t, names, 5)
				require.LessOrEqual(t, age, time.Since(away)+time.Minute)
			}
			changes := d.Call("GET", "/changes?resource=contact", token, "")
			require.Equal(t, 200, changes.Status, "%s", changes.Body)

			one := d.Call("GET", "/contact/3", stale, "", "Cache-Control", "stale-if-error=3600")
			require.Equal(t, 200, one.Status, "%s", one.Body)
			require.Equal(t, "Card 3", one.Data(t)["name"])
			require.Equal(t, "frontdesk; hit; detail=stale", one.Header.Get("Cache-Status"))
			require.NotEmpty(t, one.Header.Get("Age"))
			for _, headers := range [][]string{nil, {"Cache-Control", "stale-if-error=0"}, {"Cache-Control", "max-age=3600"}} {
				require.Equal(t, 500, d.Call("GET", "/contact/3", stale, "", headers...).Status, "%v", headers)
			}
			require.Equal(t, 500, d.Call("GET", "/contact/4", stale, "", "Cache-Control", "stale-if-error=3600").Status, "another client's, as one that is not there")
			require.Equal(t, 500, d.Call("GET", "/contact/4711", stale, "", "Cache-Control", "stale-if-error=3600").Status)
			require.Equal(t, 500, d.Call("PUT", "/contact/3", stale, `{"name":"X"}`, "Cache-Control", "stale-if-error=3600").Status)
			known := time.Now()
			names, age := contacts(d, token, "Cache-Control", "no-cache")
			require.Len(t, names, 5, "it was asked first, in vain")
			require.GreaterOrEqual(t, age, known.Sub(away).Truncate(time.Second))

			s.behind(func() {
				s.instead = nil
				s.put(map[string]any{"id": 3, "name": "Meanwhile"})
			})
			await.True(t, func() bool {
				a := d.Call("GET", "/contact/3", token, "")
				return a.Status == 200 && a.Data(t)["name"] == "Meanwhile"
			})
			await.True(t, func() bool {
				names, _ := contacts(d, token, "Cache-Control", "no-cache")
				return names[1] == "Meanwhile"
			})
		})
	}
}

// TestServiceHangs: lists do not wait, each of them, for a service that does not answer.
func TestServiceHangs(t *testing.T) {
	t.Parallel()
	s := newCardfile(t)
	d := s.desk(seldom, sinceRevision, ", timeout: 2s")
	token := d.Login(rig.FullKey, "noord")
	contacts(d, token)
	release, came := make(chan struct{}), 0
	began := time.Now()
	s.behind(func() {
		s.instead = func(_ http.ResponseWriter, r *http.Request) bool {
			s.behind(func() { came++ })
			select {
			case <-release:
			case <-r.Context().Done():
			}
			return true
		}
	})
	for range 100 {
		names, _ := contacts(d, token)
		require.Len(t, names, 5)
	}
	close(release)
	s.behind(func() {
		require.LessOrEqual(t, came, 4+2*int(time.Since(began)/time.Second), "it is asked now and then, and each is asked twice")
		s.instead = nil
	})
	await.True(t, func() bool {
		_, age := contacts(d, token)
		return age == 0
	})
}

// TestServiceAwayTooLong: a list is no older than copy.max_age.
func TestServiceAwayTooLong(t *testing.T) {
	t.Parallel()
	s := newCardfile(t)
	d := s.desk("{every: 1s, max_age: 2s}", sinceRevision, "")
	token := d.Login(rig.FullKey, "noord")
	contacts(d, token)
	s.behind(func() {
		s.instead = func(w http.ResponseWriter, _ *http.Request) bool {
			w.WriteHeader(http.StatusServiceUnavailable)
			return true
		}
	})
	await.True(t, func() bool {
		a := d.Call("GET", "/contact", token, "")
		if a.Status == 200 {
			seconds, err := strconv.Atoi(a.Header.Get("Age"))
			require.NoError(t, err)
			require.LessOrEqual(t, seconds, 2)
			return false
		}
		require.Equal(t, "backend_unavailable", a.Failure(t).Reason)
		return a.Status == 500
	})
	s.behind(func() { s.instead = nil })
	await.True(t, func() bool { return d.Call("GET", "/contact", token, "").Status == 200 })
}
