package backendtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// Desk is a running frontdesk that can be asked for single errors.
type Desk struct {
	s    *suite
	rows []Case
}

// Refusal is the error of an answer.
type Refusal struct {
	Status         int
	Message, Field string
	Also           []string // the messages of further violations
}

// Request is a valid request.
type Request struct{ Method, Path, Token, Body string }

// ErrNoWay is the error for a reason that no request from outside can cause.
var ErrNoWay = errors.New("no request from outside brings it about")

// Open logs in and reads the model. Records that it makes stay.
func Open(ctx context.Context, o Options) (*Desk, error) {
	s := newSuite(ctx, o)
	rows := slices.DeleteFunc(Cases(), func(c Case) bool { return c.reason == "" })
	return &Desk{s, rows}, s.prepare()
}

// Close ends the session.
func (d *Desk) Close() {
	d.s.logout()
	d.s.http.CloseIdleConnections()
}

// Row causes a row of the tables wherever that is possible, and compares each answer word for
// word.
func (d *Desk) Row(scope mapping.Scope, reason mapping.Reason) ([]Refusal, error) {
	for _, c := range d.rows {
		if c.reason == reason && c.scope == scope {
			return d.try(&T{suite: d.s, c: c})
		}
	}
	return nil, ErrNoWay
}

// Provoke causes a reason at one operation, which is named as in the description, in the way of
// the row that has the words for it there.
func (d *Desk) Provoke(method, path string, reason mapping.Reason) error {
	o := d.about(method, path).op
	worded := d.s.catalogue.Lookup(reason, o.scopes()...).Scope
	for _, c := range d.rows {
		if c.reason == reason && c.scope == worded {
			_, err := d.try(&T{suite: d.s, c: c, op: o, told: true})
			return err
		}
	}
	return ErrNoWay
}

// Right returns a valid request of an operation, a new one each time.
func (d *Desk) Right(method, path string) (right Request, err error) {
	t := d.about(method, path)
	t.anew = true
	t.c.run = func(t *T) {
		r := t.right()
		right = Request{Method: r.method, Path: strings.TrimSuffix(r.path+"?"+r.query, "?"), Token: r.token, Body: r.text()}
		t.asserted++
	}
	_, err = d.try(t)
	return right, err
}

func (d *Desk) about(method, path string) *T {
	t := &T{suite: d.s, told: true}
	t.op = t.operation(method, path)
	return t
}

// try runs a case, and tells how it ended.
func (d *Desk) try(t *T) (refused []Refusal, err error) {
	defer func() {
		switch o := t.ended(recover()); o.status {
		case Passed:
			if len(t.refusals) == 0 && t.c.reason != "" {
				err = fmt.Errorf("%w: the row is asked of other operations", ErrNoWay)
			}
		case Failed:
			err = fmt.Errorf("%s %s: %s: expected %s, got %s", t.c.scope, t.c.reason, o.reason, o.expected, o.got)
		default:
			err = fmt.Errorf("%w: %s", ErrNoWay, o.reason)
		}
		refused = t.refusals
	}()
	t.c.run(t)
	return nil, nil
}
