package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping/sheet"
)

// logOn keeps the tokens of calls: one for all, or one for each client. The first call without
// a token gets one, and the others wait for it.
type logOn struct {
	s     *service
	sheet *sheet.LogOn
	shape *shape // of the answer: the token, and its lifetime

	mu      sync.Mutex
	holders map[auth.Client]*holder // by client; 0 where all share one
}

// holder is one token and the lock of those that wait for it.
type holder struct {
	client auth.Client
	turn   chan struct{} // held by who reads or changes the rest
	ticket ticket
	failed error // of the last try, until pause
	pause  time.Time
}

// ticket is a token and how long it may be used.
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
	answer := newShape(l.Token)
	if l.ExpiresIn != "" {
		answer.addPlace(l.ExpiresIn)
	}
	return &logOn{s: s, sheet: l, shape: answer, holders: map[auth.Client]*holder{}}
}

// holder returns who keeps the token for calls of a client. Calls of none are
// those of the accounts.
func (l *logOn) holder(client auth.Client) *holder {
	switch {
	case !l.sheet.PerClient:
		client = auth.Client{}
	case client.ID == 0:
		client.Name = l.sheet.AccountsClient
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.holders[client]
	if h == nil {
		h = &holder{client: client, turn: make(chan struct{}, 1)}
		l.holders[client] = h
	}
	return h
}

// get returns a ticket that is valid as far as is known.
func (l *logOn) get(ctx context.Context, client auth.Client) (ticket, error) {
	h := l.holder(client)
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return ticket{}, fmt.Errorf("wait for the log-on: %w", ctx.Err())
	}
	defer func() { <-h.turn }()
	now := l.s.o.Now()
	switch {
	case now.Before(h.ticket.until):
		return h.ticket, nil
	case h.failed != nil && now.Before(h.pause):
		return ticket{}, h.failed
	}
	t, err := l.request(ctx, h.client)
	if err != nil {
		err = fmt.Errorf("log on: %w", err)
		if ctx.Err() == nil { // else it says nothing to others
			h.failed, h.pause = err, l.s.o.Now().Add(logOnPause)
		}
		return ticket{}, err
	}
	h.ticket, h.failed = t, nil
	return t, nil
}

// expire drops a ticket that was refused, unless there is a newer one.
func (l *logOn) expire(ctx context.Context, client auth.Client, t ticket) {
	h := l.holder(client)
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return
	}
	defer func() { <-h.turn }()
	if h.ticket == t {
		h.ticket = ticket{}
	}
}

func (l *logOn) request(ctx context.Context, client auth.Client) (ticket, error) {
	v := &values{client: client}
	c, err := l.sheet.Request.Build(sheet.Values{Get: v.get})
	if err != nil {
		return ticket{}, err
	}
	r := &request{
		secret: true, method: c.Method, target: l.s.base + c.Target, asked: l.sheet.Request.Template, body: c.Body, head: appendHeaders(nil, c.Headers), timeout: l.s.timeoutOf(l.sheet.Request),
	}
	a, err := l.s.wire.do(ctx, r)
	if err != nil {
		return ticket{}, err
	}
	defer l.s.wire.release(a)
	if !isSuccess(a.status) {
		return ticket{}, fmt.Errorf("the service answered %d", a.status) // its text may hold what was sent
	}
	top, err := l.s.scan(l.shape, a.body)
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
