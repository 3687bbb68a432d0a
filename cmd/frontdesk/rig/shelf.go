package rig

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Row is a record of a Shelf.
type Row = map[string]any

// Shelf is a service that keeps rows in tables, in memory, and is asked over HTTP: GET and POST
// of /table, GET, PATCH and DELETE of /table/id. It does what it is asked, whosever rows they are.
// A list has items, total and rev, takes offset and limit, and since where Since is set.
type Shelf struct {
	*httptest.Server
	mu     sync.Mutex
	tables map[string][]Row
	lists  int // that were asked for since Asked
	rev    int // how often a row was written
	last   int // ID that was given

	// What differs between tests, changed by Behind once it serves.
	Wrote   func(row Row, rev int)                                  // is told of each row that is written
	Since   func(row Row, since string) bool                        // which rows a list since then has
	Stays   func(table string) bool                                 // where deleted rows stay, with gone: 1
	Show    func(table string, row Row) Row                         // what is answered of a row
	Instead func(w http.ResponseWriter, r *http.Request) (did bool) // answers in its place, beside others
}

// Serve starts it; it ends with the test.
func (s *Shelf) Serve(t testing.TB) *Shelf {
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Put adds a row, or changes that of its ID.
func (s *Shelf) Put(table string, row Row) Row {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.put(table, row)
}

func (s *Shelf) put(table string, row Row) Row {
	if s.tables == nil {
		s.tables = map[string][]Row{}
	}
	row = maps.Clone(row)
	if at := s.at(table, fmt.Sprint(row["id"])); at >= 0 {
		maps.Copy(s.tables[table][at], row)
		row = s.tables[table][at]
	} else {
		if id, given := row["id"].(int); given {
			s.last = max(s.last, id)
		} else {
			s.last++
			row["id"] = s.last
		}
		s.tables[table] = append(s.tables[table], row)
	}
	s.wrote(row)
	return row
}

func (s *Shelf) wrote(row Row) {
	s.rev++
	if s.Wrote != nil {
		s.Wrote(row, s.rev)
	}
}

func (s *Shelf) at(table, id string) int {
	return slices.IndexFunc(s.tables[table], func(r Row) bool { return fmt.Sprint(r["id"]) == id })
}

// Rows are those of a table, as they are now.
func (s *Shelf) Rows(table string) (rows []Row) {
	s.Behind(func() {
		for _, row := range s.tables[table] {
			rows = append(rows, maps.Clone(row))
		}
	})
	return rows
}

// Row is the one of that ID.
func (s *Shelf) Row(table string, id int) Row {
	rows := s.Rows(table)
	return rows[slices.IndexFunc(rows, func(r Row) bool { return r["id"] == id })]
}

// Behind changes the service while nobody is answered.
func (s *Shelf) Behind(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// Asked is how many lists were asked for since the last time.
func (s *Shelf) Asked() (n int) {
	s.Behind(func() { n, s.lists = s.lists, 0 })
	return n
}

func (s *Shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var instead func(http.ResponseWriter, *http.Request) bool
	s.Behind(func() { instead = s.Instead })
	if instead != nil && instead(w, r) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	status, answer := s.answer(r)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if answer != nil {
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func (s *Shelf) answer(r *http.Request) (status int, answer any) {
	table, id, one := strings.Cut(r.URL.Path[1:], "/")
	body, at := Row{}, s.at(table, id)
	_ = json.NewDecoder(r.Body).Decode(&body)
	switch {
	case r.Method == http.MethodPost:
		return http.StatusCreated, s.shown(table, s.put(table, body))
	case !one:
		s.lists++
		return http.StatusOK, s.list(table, r)
	case at < 0:
		return http.StatusNotFound, nil
	case r.Method == http.MethodDelete:
		row := s.tables[table][at]
		row["gone"] = 1
		s.wrote(row)
		if s.Stays == nil || !s.Stays(table) {
			s.tables[table] = slices.Delete(s.tables[table], at, at+1)
		}
		return http.StatusNoContent, nil
	case r.Method == http.MethodPatch:
		body["id"] = s.tables[table][at]["id"]
		s.put(table, body)
	}
	return http.StatusOK, s.shown(table, s.tables[table][at])
}

func (s *Shelf) list(table string, r *http.Request) Row {
	all := []Row{}
	for _, row := range s.tables[table] {
		if s.Since == nil || !r.URL.Query().Has("since") || s.Since(row, r.FormValue("since")) {
			all = append(all, s.shown(table, row))
		}
	}
	page := all
	if limit, err := strconv.Atoi(r.FormValue("limit")); err == nil {
		offset, _ := strconv.Atoi(r.FormValue("offset"))
		page = all[min(offset, len(all)):min(offset+limit, len(all))]
	}
	return Row{"items": page, "total": len(all), "rev": strconv.Itoa(s.rev)}
}

func (s *Shelf) shown(table string, row Row) Row {
	if s.Show == nil {
		return row
	}
	return s.Show(table, row)
}
