package remote

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// Claim is what does not hold for records.
type Claim int

// The claims.
const (
	Unshown      Claim = iota // a value can be converted
	Unlisted                  // the code list has it
	Empty                     // a required field has a value
	Missing                   // some record has the place
	Valueless                 // some record has a value
	TooLong                   // the interface takes the text
	Nobodys                   // the record says whose it is
	Others                    // the list of a client has no other's
	Twice                     // a key is that of one record
	Nowhere                   // a reference leads to a record that its client sees
	AtOnce                    // a list without pages is whole
	GetFails                  // a record of the list can be read by itself
	GetDiffers                // and is the same
	ListLacks                 // the list has the value that it has by itself
	SinceFails                // what has changed can be asked for
	SinceMisses               // the answer has what has changed
	SinceIgnored              // and nothing else
)

// Finding is how many records a claim does not hold for.
type Finding struct {
	What        Claim
	At          string // a field, or a key of the sheet
	Records, Of int
	Err         error // the first, which may quote a value; nil for none
}

// Survey is what a walk over all records of a resource has shown.
type Survey struct {
	Resource *mapping.Resource
	Records  int
	Found    []Finding

	of       *sheet.Resource
	parent   string               // the field that refers to the record that an element stands in
	alone    int64                // the client whose records alone are walked; 0 where one walk finds all
	clients  map[int64]*[2]*taken // the first and the last record of each
	here     int                  // records that are not hidden
	read     int                  // those whose fields were looked at
	twice    int
	ids      map[int32]bool
	sums     map[uint64]bool // of what the service has of a record
	faults   map[Finding]*Finding
	fields   []tally
	newest   mapping.Value // modified_at
	newestID int32
}

// tally is what was counted of a field.
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

// surveys are those of the resources whose records a walk finds.
type surveys map[*mapping.Resource]*Survey

func newSurveys(sh *sheet.Sheet, p *walked) surveys {
	all := surveys{}
	add := func(r *mapping.Resource, parent string) {
		all[r] = &Survey{
			Resource: r, of: sh.Resources[r], parent: parent, alone: p.client.ID, clients: map[int64]*[2]*taken{}, ids: map[int32]bool{}, sums: map[uint64]bool{},
			faults: map[Finding]*Finding{}, fields: make([]tally, len(r.Fields)),
		}
	}
	add(p.r.Resource, "")
	for _, f := range nested(p.r) {
		add(f.Target(), f.ArrayKey)
	}
	return all
}

// add counts a record of a client, and its elements.
func (all surveys) add(c *connector, t *taken, client int64) {
	all[t.rec.Resource].add(c, t, client)
	for _, e := range t.within {
		all.add(c, e, client)
	}
}

func (s *Survey) add(c *connector, t *taken, client int64) {
	s.Records++
	id := t.rec.ID()
	if s.ids[id] {
		s.twice++
	}
	s.ids[id] = true
	if t.hidden || t.gone {
		return
	}
	s.here++
	s.sums[sumOfRow(t.raw)] = true
	for _, f := range t.faults {
		s.fault(f)
	}
	if isAbout(t.faults, "client", "select") {
		return
	}
	s.read++
	for _, i := range t.absent {
		s.fields[i].absent++
	}
	if t.err != nil {
		return
	}
	if s.alone != 0 && client != 0 && client != s.alone {
		s.count(Others, "client", nil)
	}
	ends := s.clients[client]
	if ends == nil {
		ends = &[2]*taken{t}
		s.clients[client] = ends
	}
	ends[1] = t
	if at := t.rec.Values[s.of.ModifiedAt]; at.IsSet() && (!s.newest.IsSet() || at.Int() > s.newest.Int()) {
		s.newest, s.newestID = at, id
	}
	for i, v := range t.rec.Values {
		s.value(c, t.rec, &s.Resource.Fields[i], v, client)
	}
}

func (s *Survey) value(c *connector, rec mapping.Record, f *mapping.Field, v mapping.Value, client int64) {
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
	if target := c.target(f, rec); target != nil && f.Name != s.parent {
		if of.refers == nil {
			of.refers = map[referred]int{}
		}
		of.refers[referred{target.Resource, int32(v.Int()), client}]++
	}
}

// isAbout tells whether the first fault is at one of these keys: no field was looked at then.
func isAbout(faults []fault, keys ...string) bool {
	return len(faults) > 0 && slices.Contains(keys, faults[0].of)
}

func (s *Survey) fault(f fault) {
	what := Unshown
	switch {
	case f.of == "client", errors.Is(f.err, errNoOwner):
		what = Nobodys
	case errors.Is(f.err, sheet.ErrUnlisted):
		what = Unlisted
	}
	s.count(what, f.of, f.err)
}

func (s *Survey) count(what Claim, at string, err error) {
	key := Finding{What: what, At: at}
	if s.faults[key] == nil {
		s.faults[key] = &Finding{What: what, At: at, Err: err}
	}
	s.faults[key].Records++
}

// sumOfRow is a hash of a record as the service has it.
func sumOfRow(row map[string]any) uint64 {
	text, err := json.Marshal(ownOf(row))
	if err != nil {
		return 0
	}
	return xxhash.Sum64(text)
}

// finish makes findings of what was counted.
func (s *Survey) finish() {
	for _, f := range s.faults {
		f.Of = s.here
		s.Found = append(s.Found, *f)
	}
	if s.twice > 0 {
		s.found(Twice, "key", s.twice, nil)
	}
	paged := s.of.Service.Walk == nil || s.of.Service.Walk.Paging.Style != "none"
	if !paged && slices.Contains(pageSizes, s.Records) {
		s.found(AtOnce, "walk", s.Records, nil)
	}
	for i := range s.fields {
		s.finishField(&s.Resource.Fields[i], &s.fields[i])
	}
	slices.SortFunc(s.Found, func(a, b Finding) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.What, b.What)) })
}

// pageSizes are how many records services answer at most where nobody says.
var pageSizes = []int{10, 15, 20, 25, 30, 40, 50, 100, 200, 250, 500, 1000, 2000, 5000, 10000}

func (s *Survey) finishField(f *mapping.Field, of *tally) {
	switch read := s.of.Service.Fields[f.Index].Read; {
	case s.read == 0 || read.IsZero() || f.Type == mapping.Bytea && s.of.Service.Get != nil: // read by get
		return
	case of.absent == s.read:
		s.found(Missing, f.Name, s.read, nil)
	case f.Required && of.null > 0:
		s.found(Empty, f.Name, of.null, nil)
	case read.JQ != nil && of.null == s.read:
		s.found(Valueless, f.Name, s.read, nil)
	}
	if of.long > 0 {
		s.found(TooLong, f.Name, of.long, nil)
	}
}

func (s *Survey) found(what Claim, at string, n int, err error) {
	s.Found = append(s.Found, Finding{what, at, n, s.Records, err})
}

// Clients is of how many clients records were found, and Has whether of one, or of all.
func (s *Survey) Clients() int { return len(s.clients) }

// Has tells whether records of a client were found, or of all clients.
func (s *Survey) Has(client int64) bool { return s.clients[client] != nil || s.clients[0] != nil }

// Present is how many records have the place of a field, of those that were looked at.
func (s *Survey) Present(field int) (n, of int) { return s.read - s.fields[field].absent, s.read }

// Alike is how many of its records another survey, of another client, has as well, letter by letter.
func (s *Survey) Alike(other *Survey) (n int) {
	for sum := range s.sums {
		if other.sums[sum] {
			n++
		}
	}
	return n
}
