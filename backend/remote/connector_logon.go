package remote

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"frontdesk/auth"
	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// loggingOn keeps the tokens of calls: one for all, or one for each client. The first call without
// a token gets one, and the others wait for it.
type loggingOn struct {
	c     *connector
	sheet *sheet.ServiceLogOn
	call  *call
	// renewOn is the answer to a call whose token has expired.
	renewOn sheet.Match

	holders sync.Map // by client; 0 if all share one
}

// holder is one token and the lock of those that wait for it.
type holder struct {
	client auth.Client
	turn   chan struct{} // a lock on the rest
	ticket ticket
	failed error // of the last try; valid until pause
	pause  time.Time
}

// ticket is a token and how long it may be used.
type ticket struct {
	token string
	until time.Time
}

const (
	// logOnMargin is how long before its end, at most, a token is no longer used.
	logOnMargin = 10 * time.Second
	// logOnPause keeps waiting calls from repeating, one after the other, a log-on that
	// has just failed.
	logOnPause = 500 * time.Millisecond
)

func newLoggingOn(c *connector) *loggingOn {
	on := c.source.LogOn
	logOn := &loggingOn{c: c, sheet: on, call: newCall(c.source, nil, mapping.OpGet, &on.Call)}
	logOn.call.secret = true
	if logOn.renewOn = on.RenewOn; logOn.renewOn == (sheet.Match{}) {
		logOn.renewOn.Status = "401"
	}
	return logOn
}

// holder returns the holder of the token for calls of a client; calls of the accounts
// have none.
func (l *loggingOn) holder(client auth.Client) *holder {
	switch {
	case !l.sheet.PerClient:
		client = auth.Client{}
	case client.ID == 0:
		client.Name = l.sheet.AccountsClient
	}
	h, known := l.holders.Load(client)
	if !known {
		h, _ = l.holders.LoadOrStore(client, &holder{client: client, turn: make(chan struct{}, 1)})
	}
	return h.(*holder)
}

// get returns a ticket that is valid as far as is known, and logs on if there is none.
func (l *loggingOn) get(ctx context.Context, client auth.Client) (ticket, error) {
	h := l.holder(client)
	select {
	case h.turn <- struct{}{}:
	case <-ctx.Done():
		return ticket{}, fmt.Errorf("wait for the log-on: %w", ctx.Err())
	}
	defer func() { <-h.turn }()
	now := l.c.Now()
	switch {
	case now.Before(h.ticket.until):
		return h.ticket, nil
	case h.failed != nil && now.Before(h.pause):
		return ticket{}, h.failed
	}
	t, err := l.request(ctx, h.client)
	if err != nil {
		err = fmt.Errorf("log on: %w", err)
		if ctx.Err() == nil { // the end of this call's context is no failure for others
			h.failed, h.pause = err, l.c.Now().Add(logOnPause)
		}
		return ticket{}, err
	}
	h.ticket, h.failed = t, nil
	return t, nil
}

// expire drops a ticket that was refused, unless there is a newer one.
func (l *loggingOn) expire(ctx context.Context, client auth.Client, t ticket) {
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

// request logs on. No error quotes the answer, which may hold what was sent.
func (l *loggingOn) request(ctx context.Context, client auth.Client) (t ticket, err error) {
	k, err := l.c.knows(ctx, client)
	if err != nil {
		return ticket{}, err
	}
	r, err := l.c.request(ctx, l.call, k, "")
	if err != nil {
		return ticket{}, err
	}
	a, err := l.c.wire.do(ctx, &r)
	if err != nil {
		return ticket{}, err
	}
	defer l.c.wire.release(a)
	if !isSuccess(a.status) {
		return ticket{}, fmt.Errorf("the service answered %d", a.status)
	}
	p := &reply{answer: a, on: l.call, xml: l.c.source.XML}
	body, err := p.body()
	if err != nil {
		return ticket{}, err
	}
	if t.token, err = textAt(ctx, l.sheet.Token, body); err != nil || t.token == "" {
		return ticket{}, errors.New("the answer has no token")
	}
	life := l.sheet.Lifetime
	if !l.sheet.ExpiresIn.IsZero() {
		text, err := textAt(ctx, l.sheet.ExpiresIn, body)
		seconds, wrong := strconv.ParseInt(text, 10, 32)
		if err != nil || wrong != nil || seconds < 1 {
			return ticket{}, errors.New("the answer does not tell how long the token lives")
		}
		life = time.Duration(seconds) * time.Second
	}
	t.until = l.c.Now().Add(life - min(logOnMargin, life/10))
	return t, nil
}

// textAt is the text, or the number as text, at a place; "" for none.
func textAt(ctx context.Context, at sheet.Spot, body sheet.JSON) (string, error) {
	v, _, err := at.Of(ctx, body)
	text, _ := sheet.ScalarText(v)
	return text, err
}
