package records

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestListsOfACopy goes through the life of a copy, of a service that tells what has changed, which is
// asked before each list, and of one that is walked.
func TestListsOfACopy(t *testing.T) {
	t.Parallel()
	for name, since := range map[string]string{"since": sinceRevision, "walks": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newCardfile(t).serve(t, seldom, since, "")
			names, _ := s.list(t)
			require.Equal(t, []string{"Card 1", "Card 3", "Card 5", "Card 7", "Card 9"}, names)
			s.isAsked(t, since != "")
			s.hasOwnWrites(t)
			s.isAway(t)

			s = newCardfile(t).serve(t, "{every: 100ms, max_age: 2h}", since, "")
			s.leavesOut(t)
			for i, member := range []string{"name", "org", "id", "at"} { // a field, whose it is, the key, a field that nobody writes
				s.changes(t, member, 20+i)
			}
		})
	}
	builtIn := rig.OnSQLite(t, rig.Options{})
	list := builtIn.Gets(200, "GET", "/contact?page_size=1", builtIn.Login(rig.FullKey, "demo"), "", "Cache-Control", fresh)
	require.Empty(t, list.Header.Get("Age"), "the built-in administration has no copy")
}

// isAsked: a list is as fresh as the request wants it, or as the service can tell.
func (s *cardfile) isAsked(t *testing.T, always bool) {
	s.Asked()
	s.Put("cards", rig.Row{"id": 3, "name": "Changed behind"})
	if !always {
		for _, headers := range [][]string{nil, {"Cache-Control", "max-age=3600"}} {
			names, _ := s.list(t, headers...)
			require.Contains(t, names, "Card 3")
		}
		require.Zero(t, s.Asked(), "the copy is young enough")
	}
	names, _ := s.list(t, "Cache-Control", fresh)
	require.Equal(t, "Changed behind", names[1])
	s.Put("cards", rig.Row{"id": 3, "name": "Changed again"})
	names, _ = s.list(t, "Cache-Control", "max-age=0")
	require.Equal(t, "Changed again", names[1])
	if !always {
		return
	}
	s.Put("cards", rig.Row{"id": 3, "name": "Card 3"})
	s.Asked()
	names, _ = s.list(t)
	require.Equal(t, "Card 3", names[1])
	require.Equal(t, 1, s.Asked())
	s.isAskedOnce(t)
}

// isAskedOnce: the service is asked once for all that wait.
func (s *cardfile) isAskedOnce(t *testing.T) {
	const lists = 12
	came, release := make(chan struct{}, lists), make(chan struct{})
	s.instead(func(http.ResponseWriter, *http.Request) bool {
		came <- struct{}{}
		<-release
		return false
	})
	var all sync.WaitGroup
	for range lists {
		all.Go(func() {
			a, err := s.Try("GET", "/contact?page_size=100", s.token, "")
			if err != nil || a.Status != 200 {
				t.Errorf("%v: %d %s", err, a.Status, a.Body)
			}
		})
	}
	<-came
	await.True(t, func() bool {
		return strings.Contains(string(s.AskOps("/metrics").Body), fmt.Sprintf("\nfrontdesk_backend_calls_running %d\n", lists))
	})
	close(release)
	all.Wait()
	s.instead(nil)
	require.LessOrEqual(t, s.Asked(), 3, "once for who came first, once for all others, and once for who was late")
}

// hasOwnWrites: what was written through the gateway is in the copy at once.
func (s *cardfile) hasOwnWrites(t *testing.T) {
	before, _ := s.list(t)
	require.Equal(t, 200, s.Call("PUT", "/contact/5", s.token, `{"name":"Changed here"}`).Status)
	made := s.Create(s.token, "contact", `{"kind":"person","name":"Made here"}`)
	require.Equal(t, 200, s.Call("DELETE", "/contact/7", s.token, "").Status)
	names, _ := s.list(t)
	require.Equal(t, []string{"Card 1", before[1], "Changed here", "Card 9", "Made here"}, names)
	one := s.Gets(200, "GET", fmt.Sprintf("/contact/%d", made), s.token, "")
	require.Empty(t, one.Header.Get("Age"), "a single record is the service's")
	theirs := s.List(s.Login(rig.FullKey, "zuid"), "/contact")
	require.Len(t, theirs, 5)
	require.Equal(t, "Card 2", theirs[0]["name"])
}

// isAway: while the service is away lists are those of the copy, and a record is the copy's for who asks
// for that and may.
func (s *cardfile) isAway(t *testing.T) {
	const unavailable = "backend_unavailable"
	stale := s.Login(staleKey, "noord")
	before, _ := s.list(t)
	s.instead(away)
	ifError := []string{"Cache-Control", "stale-if-error=3600"}
	for range 15 { // more than a circuit takes
		s.fails(t, s.token, unavailable, "GET /contact/3", ifError...) // the key has no stale: true
	}
	for _, wish := range []string{"", fresh} { // asked first, in vain
		names, _ := s.list(t, "Cache-Control", wish)
		require.Equal(t, before, names)
	}
	s.Gets(200, "GET", "/changes?resource=contact", s.token, "")

	one := s.Gets(200, "GET", "/contact/3", stale, "", ifError...)
	require.Equal(t, before[1], one.Data(t)["name"])
	require.Equal(t, "frontdesk; hit; detail=stale", one.Header.Get("Cache-Status"))
	require.NotEmpty(t, one.Header.Get("Age"))
	for _, headers := range [][]string{nil, {"Cache-Control", "stale-if-error=0"}, {"Cache-Control", "max-age=3600"}} {
		s.fails(t, stale, unavailable, "GET /contact/3", headers...)
	}
	for _, ask := range []string{"GET /contact/4", "GET /contact/4711", `PUT /contact/3 {"name":"X"}`} { // another client's, as one that is not there
		s.fails(t, stale, unavailable, ask, ifError...)
	}

	s.instead(nil)
	s.Put("cards", rig.Row{"id": 3, "name": "Meanwhile"})
	await.True(t, func() bool {
		a := s.Call("GET", "/contact/3", s.token, "")
		return a.Status == 200 && a.Data(t)["name"] == "Meanwhile"
	})
	await.True(t, func() bool {
		names, _ := s.list(t, "Cache-Control", fresh)
		return names[1] == "Meanwhile"
	})
	require.Equal(t, 200, s.Call("PUT", "/contact/3", s.token, `{"payment_days":14}`).Status)
}

// leavesOut: a record that does not fit is left out of lists, and counted, not told as deleted, and in
// nobody's way; by itself it is 500.
func (s *cardfile) leavesOut(t *testing.T) {
	before, _ := s.list(t, "Cache-Control", fresh)
	_, cursor := s.told(t, "")
	s.Put("cards", rig.Row{"id": 3, "days": "on receipt"})
	await.True(t, func() bool {
		return strings.Contains(s.OpsText("/metrics"), `frontdesk_backend_records_left_out_total{field="payment_days",resource="contact"} 1`)
	})
	names, _ := s.list(t, "Cache-Control", fresh)
	require.Equal(t, append([]string{before[0]}, before[2:]...), names)
	all, _ := s.told(t, cursor)
	require.Empty(t, all, "it is not gone")
	one := s.Gets(500, "GET", "/contact/3", s.token, "")
	require.NotContains(t, string(one.Body)+string(s.AskOps("/backends").Body), "on receipt")
	require.Equal(t, 200, s.Call("GET", "/contact/5", s.token, "").Status)
	require.Equal(t, 200, s.Call("PUT", "/contact/5", s.token, `{"payment_days":30}`).Status)
	s.Put("cards", rig.Row{"id": 3, "days": 14})
	await.True(t, func() bool {
		names, _ := s.list(t, "Cache-Control", fresh)
		return len(names) == len(before)
	})
}

// changes: what needs a member that the service has no more is closed, writes before lists, and opens by
// itself; nothing is told as null, empty, not found or deleted.
func (s *cardfile) changes(t *testing.T, member string, days int) {
	before, _ := s.list(t, "Cache-Control", fresh)
	_, cursor := s.told(t, "")
	digest, cards := s.digest(t), s.Rows("cards")
	s.Behind(func() { s.renamed = map[string]string{member: "x" + member} })
	closed := func() bool {
		return strings.Contains(string(s.AskOps("/readyz").Body), "writing contact is refused since") &&
			strings.Contains(string(s.AskOps("/metrics").Body), `frontdesk_backend_changed{calls="writes",resource="contact"}`)
	}
	await.True(t, closed, "operators are told: %s", member)
	for _, ask := range []string{`PUT /contact/3 {"payment_days":7}`, `POST /contact {"kind":"person","name":"New"}`, "GET /contact/3"} {
		s.fails(t, s.token, "backend_changed", ask)
	}
	names, _ := s.list(t)
	require.Equal(t, before, names, "the copy has what it had")
	all, _ := s.told(t, cursor)
	require.Empty(t, all)
	require.Equal(t, digest, s.digest(t))
	require.Equal(t, cards, s.Rows("cards"))

	s.Behind(func() { s.renamed = nil })
	s.Put("cards", rig.Row{"id": 9, "name": "Without " + member})
	await.True(t, func() bool { return !closed() })
	await.True(t, func() bool {
		return s.Call("PUT", "/contact/3", s.token, fmt.Sprintf(`{"payment_days":%d}`, days)).Status == 200
	})
	names, _ = s.list(t, "Cache-Control", fresh)
	require.Contains(t, names, "Without "+member)
	all, _ = s.told(t, cursor)
	require.Equal(t, map[string]string{"updated 3": names[1], "updated 9": "Without " + member}, all)
}

// TestBeforeACopyIsWhole: there is no list of a part.
func TestBeforeACopyIsWhole(t *testing.T) {
	t.Parallel()
	s := newCardfile(t)
	release := make(chan struct{})
	s.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		if r.FormValue("offset") == "6" { // its third page
			<-release
		}
		return false
	})
	s.serve(t, seldom, "", ", timeout: 4s")
	for _, path := range []string{"/contact", "/contact?name=Card+1", "/changes?resource=contact"} {
		a := s.fails(t, s.token, "backend_unavailable", "GET "+path)
		require.NotEmpty(t, a.Header.Get("Retry-After"), path)
	}
	await.True(t, func() bool { return s.Call("GET", "/contact/1", s.token, "").Status == 200 }, "one record is read from the service")
	close(release)
	await.True(t, func() bool { return s.Call("GET", "/contact", s.token, "").Status == 200 })
}

// TestServiceHangs: lists do not wait, each of them, for a service that does not answer.
func TestServiceHangs(t *testing.T) {
	t.Parallel()
	s := newCardfile(t).serve(t, seldom, sinceRevision, ", timeout: 6s")
	s.list(t)
	release, came := make(chan struct{}), 0
	s.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		s.Behind(func() { came++ })
		select {
		case <-release:
		case <-r.Context().Done():
		}
		return true
	})
	const lists = 100
	for range lists {
		names, _ := s.list(t)
		require.Len(t, names, 5)
	}
	close(release)
	s.Behind(func() { require.Less(t, came, lists/2, "it is asked now and then") })
	s.instead(nil)
	await.True(t, func() bool {
		_, age := s.list(t)
		return age == 0
	})
}

// TestServiceAwayTooLong: a list is no older than copy.max_age.
func TestServiceAwayTooLong(t *testing.T) {
	t.Parallel()
	s := newCardfile(t).serve(t, "{every: 1s, max_age: 2s}", sinceRevision, "")
	s.list(t)
	s.instead(away)
	await.True(t, func() bool {
		a := s.Call("GET", "/contact", s.token, "")
		if a.Status == 200 {
			require.Contains(t, []string{"0", "1", "2"}, a.Header.Get("Age"))
		}
		return a.Status == 500
	})
	s.fails(t, s.token, "backend_unavailable", "GET /contact")
	s.instead(nil)
	await.True(t, func() bool { return s.Call("GET", "/contact", s.token, "").Status == 200 })
}
