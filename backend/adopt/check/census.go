package check

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"frontdesk/backend/remote"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// census is what a walk over all records of a resource has shown.
type census struct {
	*mapping.Resource
	records int
	found   []found

	service   Service
	of        *sheet.ServiceResource
	parent    string                    // the field that refers to the record that an element is within
	alone     int64                     // the only client whose records are walked; 0 if one walk finds all
	clients   map[int64]*[2]remote.Seen // the first and the last record of each
	here      int                       // records that are not hidden
	read      int                       // records whose fields were examined
	versioned bool                      // one of them has a version
	twice     int
	ids       map[int32]bool
	shown     map[int32]int64 // the clients of records that can be shown
	sums      map[uint64]bool // hashes of the service's records
	members   map[string][]string
	faults    map[found]*found
	fields    []tally
	newest    mapping.Value // modified_at
	newestID  int32
}

// tally has the counts for a field.
type tally struct {
	absent, null, long int
	refers             map[referred]int
}

// referred is a record that another one of the client refers to.
type referred struct {
	to     *mapping.Resource
	id     int32
	client int64
}

// censuses are the censuses of the resources whose records a walk finds.
type censuses map[*mapping.Resource]*census

func (all censuses) begin(s Service, sh *sheet.Sheet, r *mapping.Resource, parent string, alone int64) {
	of := sh.Resources[r].Service
	all[r] = &census{
		Resource: r, service: s, of: of, parent: parent, alone: alone, clients: map[int64]*[2]remote.Seen{}, ids: map[int32]bool{}, shown: map[int32]int64{}, sums: map[uint64]bool{}, members: map[string][]string{},
		faults: map[found]*found{}, fields: make([]tally, len(r.Fields)),
	}
	for i := range of.Fields {
		if f := &r.Fields[i]; !of.Fields[i].Elements.IsZero() {
			all.begin(s, sh, f.Target(), f.ArrayKey, alone)
		}
	}
}

// add counts records, and their elements.
func (all censuses) add(ctx context.Context, records []remote.Seen) {
	for _, t := range records {
		all[t.Record.Resource].add(ctx, t)
		all.add(ctx, t.Within)
	}
}

func (s *census) add(ctx context.Context, t remote.Seen) {
	s.records++
	id := t.Record.ID()
	if s.ids[id] {
		s.twice++
	}
	s.ids[id] = true
	if t.Hidden || t.Gone {
		return
	}
	s.here++
	s.sums[sumOfRow(t.Row)] = true
	for name, v := range t.Row {
		if kind := kindOf(v); kind != "" && !slices.Contains(s.members[name], kind) {
			s.members[name] = append(s.members[name], kind)
		}
	}
	for _, f := range t.Faults {
		s.fault(f)
	}
	if len(t.Faults) > 0 && slices.Contains([]string{"client", "select"}, t.Faults[0].Of) { // no field was examined
		return
	}
	s.read++
	if !s.versioned && !s.of.Version.IsZero() {
		if row, err := sheet.JSONOf(t.Row); err == nil {
			_, s.versioned, _ = s.of.Version.Of(ctx, row)
		}
	}
	for _, i := range t.Absent {
		s.fields[i].absent++
	}
	if len(t.Faults) > 0 {
		return
	}
	s.shown[id] = t.Client
	if s.alone != 0 && t.Client != 0 && t.Client != s.alone {
		s.count(others, "client", nil)
	}
	ends := s.clients[t.Client]
	if ends == nil {
		ends = &[2]remote.Seen{t}
		s.clients[t.Client] = ends
	}
	ends[1] = t
	if at := t.Record.Get("modified_at"); at.IsSet() && (!s.newest.IsSet() || at.Int() > s.newest.Int()) {
		s.newest, s.newestID = at, id
	}
	for i, v := range t.Record.Values {
		s.value(t, &s.Fields[i], v)
		if v.IsSet() && !s.keeps(ctx, t.Row, &s.Fields[i], v) {
			s.count(altered, s.Fields[i].Name, nil)
		}
	}
}

func (s *census) value(t remote.Seen, f *mapping.Field, v mapping.Value) {
	of := &s.fields[f.Index]
	switch {
	case f.Type == mapping.Array:
		return
	case !v.IsSet():
		of.null++
		return
	case f.Type == mapping.Varchar && utf8.RuneCountInString(v.Text()) > f.Length:
		of.long++
	}
	if target := s.service.Target(f, t.Record); target != nil && f.Name != s.parent {
		if of.refers == nil {
			of.refers = map[referred]int{}
		}
		of.refers[referred{target, int32(v.Int()), t.Client}]++
	}
}

// keeps reports whether writing back a value would keep it. A value that is written at a path unconverted
// is kept, and an element is not written by itself.
func (s *census) keeps(ctx context.Context, row map[string]any, f *mapping.Field, v mapping.Value) bool {
	how := &s.of.Fields[f.Index]
	if s.parent != "" || !how.Writable || how.Write == nil && how.Read.JQ == nil || f.Reference != "" || f.ReferenceBy != "" || f.Type == mapping.Array || f.Type == mapping.Bytea {
		return true
	}
	stored, err := how.Stored(f, v)
	if how.Write != nil {
		stored, err = how.Write.First(ctx, sheet.Shown(v))
	}
	again := sheet.Merge(map[string]any{}, row)
	if err != nil || !how.Put(again, stored) {
		return false
	}
	answered, err := sheet.JSONOf(again)
	if err != nil {
		return false
	}
	now, _, err := how.Value(ctx, f, answered)
	return err == nil && now == v
}

func (s *census) fault(f remote.Fault) {
	what := unshown
	switch {
	case f.Of == "client", errors.Is(f.Err, remote.ErrNobody):
		what = ownerless
	case errors.Is(f.Err, sheet.ErrUnlisted):
		what = unlisted
	}
	s.count(what, f.Of, f.Err)
}

func (s *census) count(what claim, at string, err error) {
	key := found{what: what, at: at}
	if s.faults[key] == nil {
		s.faults[key] = &found{what: what, at: at, err: err}
	}
	s.faults[key].records++
}

// sumOfRow is a hash of a record as the service has it.
func sumOfRow(row map[string]any) uint64 {
	text, err := json.Marshal(row)
	if err != nil {
		return 0
	}
	return xxhash.Sum64(text)
}

// finish makes findings of the counts.
func (s *census) finish() {
	for _, f := range s.faults {
		f.of = s.here
		s.found = append(s.found, *f)
	}
	if s.twice > 0 {
		s.note(again, "key", s.twice, nil)
	}
	if s.of.Walk != nil && s.of.Walk.Paging.Style == "none" && slices.Contains(pageSizes, s.records) {
		s.note(atOnce, "walk", s.records, nil)
	}
	if s.read > 0 && !s.versioned && !s.of.Version.IsZero() {
		s.note(missing, "version", s.read, nil)
	}
	for i := range s.fields {
		s.finishField(&s.Fields[i], &s.fields[i])
	}
	slices.SortFunc(s.found, func(a, b found) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what)) })
}

// pageSizes are usual default page sizes of services.
var pageSizes = []int{10, 15, 20, 25, 30, 40, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000}

func (s *census) finishField(f *mapping.Field, of *tally) {
	switch read := s.of.Fields[f.Index].Read; {
	case s.read == 0 || read.IsZero() || f.Type == mapping.Bytea && s.of.Get != nil: // read by get
		return
	case of.absent == s.read:
		s.note(missing, f.Name, s.read, nil)
	case f.Required && of.null > 0:
		s.note(empty, f.Name, of.null, nil)
	case read.JQ != nil && of.null == s.read:
		s.note(valueless, f.Name, s.read, nil)
	}
	if of.long > 0 {
		s.note(tooLong, f.Name, of.long, nil)
	}
}

func (s *census) note(what claim, at string, n int, err error) {
	s.found = append(s.found, found{what, at, n, s.records, err})
}

// has reports whether records of a client were found, or of all clients.
func (s *census) has(client int64) bool { return s.clients[client] != nil || s.clients[0] != nil }

// alike is how many identical records the census of another client has as well.
func (s *census) alike(other *census) (n int) {
	for sum := range s.sums {
		if other.sums[sum] {
			n++
		}
	}
	return n
}

// nowhere returns the references of a census that lead to no record that the client sees.
func (all censuses) nowhere(s *census) (lost []found) {
	for i := range s.fields {
		n := found{what: nowhere, at: s.Fields[i].Name}
		for ref, records := range s.fields[i].refers {
			to := all[ref.to]
			if to == nil {
				continue
			}
			n.of += records
			if client, has := to.shown[ref.id]; !has || client != 0 && client != ref.client {
				n.records += records
			}
		}
		if n.records > 0 {
			lost = append(lost, n)
		}
	}
	return lost
}
