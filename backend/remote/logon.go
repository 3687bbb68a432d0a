package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"frontdesk/mapping/sheet"
)

// logOn keeps the token that calls are made with. Whoever finds none gets one,
// and the others wait for it.
type logOn struct {
	s      *service
	sheet  *sheet.LogOn
	op     *operation
	turn   chan struct{} // held by who reads or changes the rest
	ticket ticket
	failed error // of the last try, until pause
	pause  time.Time
}

// ticket is a token and how long it is used.
type ticket struct {
	token string
	until time.Time
}

const (
	// logOnMargin is how long before its end a token is used no more, at the most.
	logOnMargin = 10 * time.Second
	// logOnPause keeps calls that wait from trying one after the other what has
	// just failed.
	logOnPause = 500 * time.Millisecond
)

func newLogOn(s *service, l *sheet.LogOn) *logOn {
	op := &operation{Operation: &sheet.Operation{Request: l.Request}, next: -1, total: -1, answer: newShape(l.Token)}
	if l.ExpiresIn != "" {
		op.answer.addPlace(l.ExpiresIn)
	}
	return &logOn{s: s, sheet: l, op: op, turn: make(chan struct{}, 1)}
}

// get returns a ticket that is good as far as anyone knows.
func (l *logOn) get(ctx context.Context) (ticket, error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return ticket{}, fmt.Errorf("wait for the log-on: %w", ctx.Err())
	}
	defer func() { <-l.turn }()
	now := l.s.o.Now()
	switch {
	case now.Before(l.ticket.until):
		return l.ticket, nil
	case l.failed != nil && now.Before(l.pause):
		return ticket{}, l.failed
	}
	t, err := l.request(ctx)
	if err != nil {
		err = fmt.Errorf("log on: %w", err)
		if ctx.Err() == nil { // else it says nothing to others
			l.failed, l.pause = err, l.s.o.Now().Add(logOnPause)
		}
		return ticket{}, err
	}
	l.ticket, l.failed = t, nil
	return t, nil
}

// expire gives up a ticket that was refused, unless there is a newer one.
func (l *logOn) expire(ctx context.Context, t ticket) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-l.turn }()
	if l.ticket == t {
		l.ticket = ticket{}
	}
}

func (l *logOn) request(ctx context.Context) (ticket, error) {
	v := &values{}
	c, err := l.sheet.Request.Build(sheet.Values{Get: v.get})
	if err != nil {
		return ticket{}, err
	}
	// Though it is a POST: to log on twice does no harm.
	r := &request{
		method: c.Method, target: l.s.base + c.Target, body: c.Body, head: appendHeaders(nil, c.Headers), timeout: l.s.timeoutOf(l.sheet.Request),
	}
	a, err := l.s.wire.do(ctx, r)
	if err != nil {
		return ticket{}, err
	}
	defer l.s.wire.release(a)
	if !isSuccess(a.status) {
		return ticket{}, fmt.Errorf("the service answered %d", a.status) // its text may hold what was sent
	}
	top, err := l.s.scan(l.op.answer, a.body)
	if err != nil {
		return ticket{}, err
	}
	t := ticket{token: top.values[0].String()}
	if t.token == "" {
		return ticket{}, errors.New("the answer has no token")
	}
	life := l.sheet.Lifetime
	if l.sheet.ExpiresIn != "" {
		seconds, err := strconv.ParseInt(top.values[1].String(), 10, 32)
		if err != nil || seconds < 1 {
			return ticket{}, errors.New("the answer does not tell how long the token lives")
		}
		life = time.Duration(seconds) * time.Second
	}
	t.until = l.s.o.Now().Add(life - min(logOnMargin, life/10))
	return t, nil
}
