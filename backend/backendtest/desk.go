package backendtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"frontdesk/mapping"
)

// Desk is a running frontdesk in which single errors can be provoked.
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
type Request struct {
	Method, Path, Token, Body string
	Headers                   []string // name, value, …
}

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

// Row provokes a row of the tables wherever that is possible, and compares each answer word for
// word.
func (d *Desk) Row(scope mapping.Scope, reason mapping.Reason) ([]Refusal, error) {
	t := &T{suite: d.s}
	err := d.bring(t, scope, reason)
	return t.refusals, err
}

// Provoke provokes a reason at one operation, named as in the description, in the way of the row
// that words the reason there.
func (d *Desk) Provoke(method, path string, reason mapping.Reason) error {
	t := d.about(method, path)
	return d.bring(t, d.s.catalogue.Lookup(reason, t.op.scopes()...).Scope, reason)
}

// bring provokes a row.
func (d *Desk) bring(t *T, scope mapping.Scope, reason mapping.Reason) error {
	i := slices.IndexFunc(d.rows, func(c Case) bool { return c.reason == reason && c.scope == scope })
	if i < 0 {
		return ErrNoWay
	}
	t.c = d.rows[i]
	err := t.outcome()
	if err == nil && len(t.refusals) == 0 {
		err = fmt.Errorf("%w: the row is asked of other operations", ErrNoWay)
	}
	return err
}

// Right returns a valid request of an operation, a new one each time.
func (d *Desk) Right(method, path string) (right Request, err error) {
	t := d.about(method, path)
	t.c.run = func(t *T) {
		r := t.right()
		right = Request{Method: r.method, Path: strings.TrimSuffix(r.path+"?"+r.query, "?"), Token: r.token, Body: r.text()}
		t.asserted++
	}
	err = t.outcome()
	return right, err
}

func (d *Desk) about(method, path string) *T {
	t := &T{suite: d.s, given: true}
	t.op = t.operation(method, path)
	return t
}

// outcome runs the case, and returns how it ended.
func (t *T) outcome() error {
	switch o := t.run(); o.status {
	case Passed:
		return nil
	case Failed:
		return fmt.Errorf("%s %s: %s: expected %s, got %s", t.c.scope, t.c.reason, o.reason, o.expected, o.got)
	default:
		return fmt.Errorf("%w: %s", ErrNoWay, o.reason)
	}
}
