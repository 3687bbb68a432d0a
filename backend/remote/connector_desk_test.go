package remote

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

type object = map[string]any

// desk is a service in memory: a collection in each path, records by their id. A test may answer in
// its place.
type desk struct {
	mu    sync.Mutex
	of    map[string][]object
	asked []string // methods, addresses and bodies
	heads []http.Header
	// instead answers a request, and tells whether it did.
	instead func(w http.ResponseWriter, r *http.Request, body string) bool
	// told changes an answer.
	told func(method string, rec object) any
}

func (s *desk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	in, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, strings.TrimSpace(r.Method+" "+r.RequestURI+" "+string(in)))
	s.heads = append(s.heads, r.Header)
	if s.instead != nil && s.instead(w, r, string(in)) {
		return
	}
	name, id, one := strings.Cut(strings.Trim(r.URL.Path, "/"), "/")
	w.Header().Set("Content-Type", "application/json")
	at := slices.IndexFunc(s.of[name], func(rec object) bool { return fmt.Sprint(rec["id"]) == id })
	var sent object
	_ = json.Unmarshal(in, &sent)
	switch {
	case !one && r.Method == "GET":
		tell(w, object{"items": s.of[name]})
		return
	case r.Method == "POST":
		rec := object{"id": len(s.of[name]) + 1}
		for member, v := range sent {
			rec[member] = v
		}
		s.of[name] = append(s.of[name], rec)
		at = len(s.of[name]) - 1
		w.WriteHeader(201)
	case at < 0:
		w.WriteHeader(404)
		tell(w, object{"error": "none"})
		return
	case r.Method == "PATCH":
		for member, v := range sent {
			s.of[name][at][member] = v
		}
	case r.Method == "PUT":
		s.of[name][at] = sent
	case r.Method == "DELETE":
		s.of[name] = slices.Delete(s.of[name], at, at+1)
		tell(w, object{})
		return
	}
	if s.told != nil {
		tell(w, s.told(r.Method, s.of[name][at]))
		return
	}
	tell(w, s.of[name][at])
}

func tell(w io.Writer, v any) { _ = json.NewEncoder(w).Encode(v) }

// take returns what was asked, and forgets it.
func (s *desk) take() (asked []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked, s.asked, s.heads = s.asked, nil, nil
	return asked
}
