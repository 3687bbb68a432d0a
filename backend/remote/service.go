package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// service is an HTTP service that is spoken to as its sheet says.
type service struct {
	o         *core
	source    *sheet.HTTP
	wire      *wire
	base      string
	logOn     *logOn // nil where there is none
	resources map[*mapping.Resource]*resource
	total     map[*operation]*operation
	verifying *operation
	finding   *operation
	cursors   *cursors
	pooled    sync.Pool // *values
}

// resource is a resource of the sheet, with its operations made ready.
type resource struct {
	// listsOthers tells that a list had others' records although the service was told who asks.
	listsOthers atomic.Bool
	// ignores are the *mapping.Field that a list was asked to be filtered by, and was not:
	// from then on positions are counted among what matches, on every page.
	ignores sync.Map
	// writes are how many this gateway made, of the resource or what it is an element of.
	writes atomic.Int64
	*sheet.Resource
	record   *shape // its places, and the lists within it
	supplied []bool // of the key's parts: those that an answer can leave out, see supplyKey
	arrays   []int  // position of the field that each list is of
	children []*resource
	elements []elements // that a new record comes with
	version  int        // position of the sheet's version, -1 for none
	get      *operation
	list     *operation
	create   *operation
	update   *operation
	delete   *operation
	feed     *feed // of what has changed; nil where there is none
}

// elements are those of an array field.
type elements struct {
	field int
	of    *resource
}

// operation is a call that the sheet describes.
type operation struct {
	*sheet.Operation
	of    *resource // nil for calls of no resource
	scope mapping.Scope
	write bool
	// secret tells that it has the credentials of who logs in.
	secret bool
	// answer is where its result, and what comes with it, are.
	answer      *shape
	next, total int // places in it, -1 for none
	totalHeader string
}

func openService(o *core) (*service, error) {
	source := o.Sheet.Source.HTTP
	w, base, err := newWire(o, source.URL, source.CAFile, source.Connections, int(source.MaxAnswer), source.Retries)
	if err != nil {
		return nil, err
	}
	s := &service{
		o: o, source: source, wire: w, base: base, resources: map[*mapping.Resource]*resource{}, total: map[*operation]*operation{},
	}
	if source.LogOn != nil {
		s.logOn = newLogOn(s, source.LogOn)
	}
	if err := s.ready(); err != nil {
		return nil, err
	}
	return s, nil
}

// ready prepares all operations, and returns what the sheet says that this driver cannot do.
func (s *service) ready() error {
	marks := 0
	for r, described := range s.o.Sheet.Resources {
		at := slices.IndexFunc(described.Places, func(p sheet.Place) bool { return described.Version != "" && p.Name == described.Version })
		s.resources[r] = &resource{Resource: described, record: placesOf(described.Places), version: at}
	}
	var problems []error
	for _, r := range s.resources {
		if err := s.readyResource(r); err != nil {
			problems = append(problems, fmt.Errorf("resource %s: %w", r.Name, err))
		}
		if r.list != nil {
			marks = max(marks, r.list.Paging.Cursors)
		}
	}
	s.cursors = newCursors(marks)
	accounts := s.o.Sheet.Accounts
	for _, a := range []struct {
		described *sheet.Operation
		to        **operation
	}{{accounts.Verify, &s.verifying}, {accounts.Find, &s.finding}} {
		if a.described == nil {
			continue
		}
		facts := placesOf(accounts.Facts.Places)
		op := &operation{Operation: a.described, next: -1, total: -1, answer: facts}
		if a.described.Result != "" {
			op.answer = newShape()
			if err := op.answer.addList(a.described.Result, facts); err != nil {
				problems = append(problems, fmt.Errorf("accounts: %w", err))
			}
		}
		*a.to = op
	}
	if s.verifying != nil {
		s.verifying.secret = true
	}
	return errors.Join(problems...)
}

// wrote counts a write that has ended, whether it was done or not.
func (r *resource) wrote() {
	r.writes.Add(1)
	for _, e := range r.elements {
		e.of.writes.Add(1)
	}
}

func placesOf(places []sheet.Place) *shape {
	s := newShape()
	for _, p := range places {
		if p.Whole {
			s.addWhole(p.Name)
		} else {
			s.addPlace(p.Name)
		}
	}
	return s
}

func (s *service) readyResource(r *resource) (err error) {
	r.supplied = suppliedParts(r.Resource)
	for i, f := range mapping.Each(r.Fields) {
		create := r.Operations[mapping.OpCreate]
		if f.Field.Type != mapping.Array || f.Children == "" && (create == nil || create.Request == nil || !create.Request.HasEach(f.Name)) {
			continue
		}
		child := s.resources[f.Field.Target()]
		if child == nil {
			return fmt.Errorf("field %s: its elements are of a resource that the sheet does not have", f.Name)
		}
		if r.elements = append(r.elements, elements{i, child}); f.Children == "" {
			continue
		}
		// Elements have no elements: their own arrays are not read here.
		if err := r.record.addList(f.Children, placesOf(child.Places)); err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
		r.arrays, r.children = append(r.arrays, i), append(r.children, child)
	}
	for scope, to := range r.slots() {
		described := r.Operations[scope]
		if described == nil {
			continue
		}
		if *to, err = s.readyOperation(r, scope, described); err != nil {
			return fmt.Errorf("operation %s: %w", scope, err)
		}
	}
	if r.feed, err = s.readyFeed(r); err != nil {
		return fmt.Errorf("changes: %w", err)
	}
	return nil
}

func (s *service) readyOperation(r *resource, scope mapping.Scope, described *sheet.Operation) (*operation, error) {
	op := &operation{Operation: described, of: r, scope: scope, next: -1, total: -1, answer: newShape()}
	for _, path := range described.Key {
		op.answer.addPlace(path)
	}
	op.write = scope == mapping.OpCreate || scope == mapping.OpUpdate || scope == mapping.OpDelete
	if described.Request == nil {
		return nil, errors.New("there is no request to make")
	}
	if scope == mapping.OpDelete || described.Nothing {
		return op, nil
	}
	if err := op.answer.addList(described.Result, r.record); err != nil {
		return nil, err
	}
	if scope != mapping.OpList {
		return op, nil
	}
	if next := described.Paging.Next; next != "" && next != "header" {
		op.next = op.answer.addPlace(next)
	}
	if t := described.Total; t != nil && t.Request == nil {
		op.countsBy(t)
	} else if t != nil {
		count := &operation{Operation: &sheet.Operation{Request: t.Request}, of: r, scope: scope, next: -1, total: -1, answer: newShape()}
		count.countsBy(t)
		s.total[op] = count
	}
	return op, nil
}

// countsBy makes ready where the number of all records is.
func (op *operation) countsBy(t *sheet.Total) {
	if op.totalHeader = t.Header; t.Header == "" {
		op.total = op.answer.addPlace(t.Result)
	}
}

// tellsTotal tells whether the answer has the number of all records.
func (op *operation) tellsTotal() bool { return op.total >= 0 || op.totalHeader != "" }

// Capabilities tells what the service is.
func (s *service) Capabilities() backend.Capabilities {
	return backend.Capabilities{Name: "remote", Store: "http", OwnRules: s.o.Sheet.OwnRules, Distant: true, Parallel: s.o.Sheet.Source.HTTP.Parallel}
}

// slots are where the resource has each operation, which the sheet need not have.
func (r *resource) slots() map[mapping.Scope]**operation {
	return map[mapping.Scope]**operation{
		mapping.OpGet: &r.get, mapping.OpList: &r.list, mapping.OpCreate: &r.create, mapping.OpUpdate: &r.update, mapping.OpDelete: &r.delete,
	}
}

// Supports tells which operations the service has.
func (s *service) Supports(r *mapping.Resource, op mapping.Scope) bool {
	known := s.resources[r]
	return known != nil && known.Operations[op] != nil
}

// Writes tells which fields can be sent to the service.
func (s *service) Writes(r *mapping.Resource, f *mapping.Field) bool { return s.o.Sheet.Writes(r, f) }

// Ping sends a request that changes nothing. Any answer will do, except one that says that the
// service does not work.
func (s *service) Ping(ctx context.Context) error {
	if s.logOn != nil { // a token that is still good says nothing of the service
		if _, err := s.logOn.get(ctx, auth.Client{}); err != nil {
			return err
		}
	}
	a, err := s.wire.do(ctx, &request{method: "GET", target: s.base + "/", page: true, timeout: s.source.Timeout})
	if err != nil {
		return err
	}
	defer s.wire.release(a)
	if isOverloaded(a.status) {
		return fmt.Errorf("the service answered %d", a.status)
	}
	return nil
}

func (s *service) Close() error {
	s.wire.pool.close()
	return nil
}

// values are what the placeholders of one call stand for.
type values struct {
	client   auth.Client
	key      []sheet.Raw
	id       int32
	token    string
	username string
	password string
	once     string // the idempotency key
	version  int64  // of the record that a write is of
	since    sheet.Raw
	order    string // what the service is told of it
	filters  []sheet.Assignment
	operands map[string]sheet.Raw   // of filters that are not equality, by placeholder
	lists    map[string][]sheet.Raw // of filters by several values, likewise
	fields   []sheet.Assignment
	page     place

	// Of those from newValues alone: made once, so that no call allocates them.
	getter func(string) sheet.Raw // get
	head   []byte                 // room for the lines of the head
}

// newValues returns values for calls one after the other, which the caller frees after the last:
// no call keeps anything of them.
func (s *service) newValues() *values {
	v, _ := s.pooled.Get().(*values)
	if v == nil {
		v = &values{head: make([]byte, 0, 256)}
		v.getter = v.get
	}
	return v
}

// freeValues empties values for another call.
func (s *service) freeValues(v *values) {
	getter, head := v.getter, v.head[:0]
	*v = values{}
	v.getter, v.head = getter, head
	if cap(head) <= keptBuffer {
		s.pooled.Put(v)
	}
}

// get returns the value of a placeholder.
func (v *values) get(name string) sheet.Raw {
	number := func(n int64) sheet.Raw { return sheet.Raw{Kind: sheet.RawInt, Int: n} }
	text := func(s string) sheet.Raw {
		if s == "" {
			return sheet.Raw{}
		}
		return sheet.Raw{Kind: sheet.RawText, Text: s}
	}
	switch name {
	case "key":
		if len(v.key) == 1 {
			return v.key[0]
		}
		return text(sheet.JoinKey(v.key))
	case "id":
		return number(int64(v.id))
	case "client.id":
		return number(v.client.ID)
	case "client.name":
		return text(v.client.Name)
	case "token":
		return text(v.token)
	case "limit":
		return number(int64(v.page.limit))
	case "offset":
		return number(int64(v.page.offset))
	case "page":
		return number(int64(v.page.number))
	case "cursor":
		return text(v.page.cursor)
	case "modified_since":
		return v.since
	case "sort":
		return text(v.order)
	case "username":
		return text(v.username)
	case "password":
		return text(v.password)
	case "idempotency_key":
		return text(v.once)
	case "version":
		return number(v.version)
	}
	return v.named(name)
}

// named returns the value of a placeholder that names a part or a field.
func (v *values) named(name string) sheet.Raw {
	kind, of, _ := strings.Cut(name, ".")
	switch kind {
	case "key":
		if n := len(of); n == 1 && of[0] >= '1' && int(of[0]-'0') <= len(v.key) {
			return v.key[of[0]-'1']
		}
	case "filter":
		if raw, ok := v.operands[name]; ok {
			return raw
		}
		return sheet.Assigned(v.filters, of)
	case "value":
		return sheet.Assigned(v.fields, of)
	}
	return sheet.Raw{}
}

// list returns the values of a placeholder that stands for several.
func (v *values) list(name string) []sheet.Raw { return v.lists[name] }

// rows returns the elements of an array that are written.
func (v *values) rows(array string) (rows [][]sheet.Assignment, given bool) {
	i := slices.IndexFunc(v.fields, func(a sheet.Assignment) bool { return a.Rows != nil && a.Field.Name == array })
	if i < 0 {
		return nil, false
	}
	return v.fields[i].Rows, true
}

// timeoutOf is how long a call may take.
func (s *service) timeoutOf(q *sheet.Request) time.Duration {
	return cmp.Or(q.Timeout, s.source.Timeout)
}
