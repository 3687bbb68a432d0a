package remotetest

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// row is one record. Its values are never changed in place, so that a row that
// was handed out stays as it was.
type row struct {
	id      string
	seq     int // counts the rows of an entity within a tenant, from 1
	version int
	values  values
	created time.Time
	updated time.Time
	deleted time.Time // zero if it is not deleted
}

func (r row) alive() bool { return r.deleted.IsZero() }

// variant is what a service decides about its administration.
type variant struct {
	now    func() time.Time
	id     func(tenant, entity string, seq int) string // "" for an entity whose code is its ID
	number func(entity string, n, year int) string     // the number of the nth record
}

// administration holds the records of all tenants of a service.
type administration struct {
	variant
	schema   []*entity
	entities map[string]*entity

	mu      sync.Mutex
	ledgers map[string]*ledger
}

// ledger holds the records of one tenant. The administration's mutex guards it.
type ledger struct {
	*administration
	tenant  string
	rows    map[string][]*row
	counter map[string]int // last number given, by entity
	dropped map[string]int // rows that are gone, by entity
}

func newAdministration(v variant) *administration {
	a := &administration{variant: v, schema: schema(), entities: map[string]*entity{}, ledgers: map[string]*ledger{}}
	for _, e := range a.schema {
		a.entities[e.name] = e
	}
	return a
}

func (a *administration) open(tenant string) *ledger {
	l := &ledger{administration: a, tenant: tenant, rows: map[string][]*row{}, counter: map[string]int{}, dropped: map[string]int{}}
	a.ledgers[tenant] = l
	return l
}

// withLedger runs f on the ledger of a tenant. It returns false if there is no such tenant.
func (a *administration) withLedger(tenant string, f func(*ledger)) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	l, ok := a.ledgers[tenant]
	if ok {
		f(l)
	}
	return ok
}

// user finds an employee by its user name, which is unique over all tenants.
func (a *administration) user(username string) (tenant string, found row, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for name, l := range a.ledgers {
		for _, r := range l.rows["employee"] {
			if r.alive() && r.values.text("username") == username {
				return name, *r, true
			}
		}
	}
	return "", row{}, false
}

func (l *ledger) row(entity, id string) *row {
	for _, r := range l.rows[entity] {
		if r.id == id {
			return r
		}
	}
	return nil
}

// living returns the row with that ID; nil if there is none, or it is deleted.
func (l *ledger) living(entity, id string) *row {
	if r := l.row(entity, id); r != nil && r.alive() {
		return r
	}
	return nil
}

// query says which rows to find.
type query struct {
	filters values
	since   time.Time // earliest last change, inclusive
	deleted bool      // include deleted rows
}

// find returns the rows that fit q, oldest first.
func (l *ledger) find(entity string, q query) []row {
	var found []row
	for _, r := range l.rows[entity] {
		if (q.deleted || r.alive()) && !r.updated.Before(q.since) && matches(r.values, q.filters) {
			found = append(found, *r)
		}
	}
	return found
}

func matches(v, filters values) bool {
	for name, want := range filters {
		if !same(v[name], want) {
			return false
		}
	}
	return true
}

func same(a, b any) bool {
	if s, ok := a.(string); ok {
		return s == b
	}
	return key(a) == key(b)
}

// key is a string that sorts as the value does.
func key(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case time.Time:
		return v.UTC().Format("2006-01-02T15:04:05.000000000")
	case int64:
		return fmt.Sprintf("%020d", v)
	default:
		return fmt.Sprint(v)
	}
}

// insert adds a row, and gives it its ID, number and initial values.
func (l *ledger) insert(entityName string, v values) (*row, *problem) {
	e := l.entities[entityName]
	now := l.now()
	seq := len(l.rows[entityName]) + l.dropped[entityName] + 1
	r := &row{id: l.id(l.tenant, entityName, seq), seq: seq, version: 1, created: now, updated: now}
	v = clean(v)
	if r.id == "" {
		r.id = v.text("code")
	}
	for _, f := range e.fields {
		if _, there := v[f.name]; !there && f.initial != nil {
			v[f.name] = f.initial
		}
	}
	if p := l.judge(e, nil, r.id, v); p != nil {
		return nil, p
	}
	if f := e.field("number"); f != nil && f.readOnly {
		l.counter[entityName]++
		v["number"] = l.number(entityName, l.counter[entityName], now.Year())
	}
	r.values = v
	l.rows[entityName] = append(l.rows[entityName], r)
	l.derive(e, r)
	return r, nil
}

// update merges a patch into a row; a nil in it empties the field.
func (l *ledger) update(entityName string, r *row, patch values) *problem {
	e := l.entities[entityName]
	v := maps.Clone(r.values)
	maps.Copy(v, patch)
	v = clean(v)
	if p := l.judge(e, r, r.id, v); p != nil {
		return p
	}
	r.values = v
	l.touch(r)
	l.derive(e, r)
	return nil
}

// set changes a row without judging it.
func (l *ledger) set(r *row, patch values) {
	v := maps.Clone(r.values)
	maps.Copy(v, patch)
	r.values = clean(v)
	l.touch(r)
}

func (l *ledger) touch(r *row) {
	r.version++
	r.updated = l.now()
}

// remove deletes a row that nothing uses; an order takes its lines with it. Deleted
// rows stay, marked as such, except for lines.
func (l *ledger) remove(entityName string, r *row) *problem {
	if p := l.judgeRemoval(entityName, r); p != nil {
		return p
	}
	if entityName == "order" {
		for _, line := range l.find("orderline", query{filters: values{"order": r.id}}) {
			l.drop("orderline", line.id)
		}
	}
	if entityName == "orderline" {
		l.drop(entityName, r.id)
		l.addUp(r.values.text("order"))
	} else {
		r.deleted = l.now()
		l.touch(r)
	}
	return nil
}

func (l *ledger) drop(entityName, id string) {
	l.dropped[entityName]++ // IDs are never given out twice
	l.rows[entityName] = slices.DeleteFunc(l.rows[entityName], func(r *row) bool { return r.id == id })
}

// clean returns the values that are not empty.
func clean(v values) values {
	out := make(values, len(v))
	for name, value := range v {
		if value != nil && value != "" {
			out[name] = value
		}
	}
	return out
}
