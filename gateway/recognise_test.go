package gateway

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap/zapcore"

	"frontdesk/auth"
)

// askedSessions count how often they are asked, and answer as they are told to.
type askedSessions struct {
	auth.Sessions
	asked  int
	within time.Duration // that they had for the last answer; 0 for as long as it takes
	get    func(context.Context) error
}

func (a *askedSessions) Get(ctx context.Context, token auth.TokenHash) (*auth.Session, error) {
	a.asked++
	a.within = 0
	if deadline, ok := ctx.Deadline(); ok {
		a.within = time.Until(deadline)
	}
	if a.get != nil {
		return nil, a.get(ctx)
	}
	return a.Sessions.Get(ctx, token)
}

// TestUnknownPathHasItsKey: who asks for what there is not is in the log and counted, and
// learns nothing by it.
func TestUnknownPathHasItsKey(t *testing.T) {
	inBubble(t, unknownPathHasItsKey)
}

func unknownPathHasItsKey(t *testing.T) {
	m, sessions := new(meter), new(askedSessions)
	h := newFixture(t, func(_ *fixture, o *Options) {
		sessions.Sessions = o.Sessions
		o.Meter, o.Sessions = m, sessions
	})
	const elsewhere, ended = "22222222-2222-4222-8222-222222222222", "33333333-3333-4333-8333-333333333333"
	far := keyOf(elsewhere, "far", h.Grants()...)
	far.Addresses = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
	past := keyOf(ended, "past", h.Grants()...)
	past.Hashes[0].Expires = h.clock.Now().Add(-time.Second)
	h.setKeys(keyOf(keyAll, "all", h.Grants()...), far, past)
	of := func(key string) visitor { return visitor{h, h.session(key, "demo")} }
	nobody := visitor{h: h}
	for _, c := range []struct {
		name        string
		who         visitor
		get         func(context.Context) error
		key, client string
		asked       int
	}{
		{"a session", of(keyAll), nil, "all", "Demo Garage", 1},
		{"an api_key that may not be used from there", of(elsewhere), nil, "far", "Demo Garage", 1},
		{"an api_key that has ended", of(ended), nil, "", "", 1},
		{"no token", nobody, nil, "", "", 0},
		{"what is no token", visitor{h, "no token"}, nil, "", "", 0},
		{"nobody's token", visitor{h, "99999999-9999-4999-8999-999999999999"}, nil, "", "", 1},
		{"a store that fails", of(keyAll), func(context.Context) error { return errors.New("out of order") }, "", "", 1},
		{"a store that panics", of(keyAll), func(context.Context) error { panic("out of order") }, "", "", 1},
		{"a store that hangs", of(keyAll), func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, "", "", 1},
	} {
		for _, request := range []struct{ method, target, reason string }{
			{"GET", "/nowhere", "endpoint_unknown"}, {"PATCH", "/order", "method_unsupported"}, {"GET", "/webservice_v2/order", "endpoint_unknown"},
		} {
			told := nobody.ask(request.method, request.target, "")
			m.told, sessions.asked, sessions.get = nil, 0, c.get
			h.lines.TakeAll()
			a := c.who.ask(request.method, request.target, "")
			sessions.get = nil
			require.Equal(t, 400, a.status, c.name)
			require.Equal(t, told.body, a.body, c.name)
			told.header.Del("Date") // by the server's own clock
			a.header.Del("Date")
			require.Equal(t, told.header.String(), a.header.String(), c.name)
			require.Equal(t, []string{request.method + "  400 in 0, 0 of it behind", "refused " + c.key + " " + request.reason}, m.told, c.name)
			require.Equal(t, c.asked, sessions.asked, c.name)
			require.Equal(t, c.name == "a store that panics", h.lines.FilterLevelExact(zapcore.ErrorLevel).Len() == 1, c.name)
			lines := h.lines.FilterMessage("request").All()
			require.Len(t, lines, 1)
			line := lines[0].ContextMap()
			require.Equal(t, []any{c.key, c.client, "", request.reason, ""}, []any{line["key"], line["client"], line["endpoint"], line["reason"], line["cause"]}, c.name)
			if c.asked > 0 {
				require.Equal(t, recogniseWithin, sessions.within)
			}
		}
	}
	for target, status := range map[string]int{"/order/1": 200, "/order/99": 404, "/order?x=1": 400} {
		sessions.asked = 0
		require.Equal(t, status, of(keyAll).ask("GET", target, "").status)
		require.Equal(t, 1, sessions.asked, "what was found is not looked for again")
		require.Zero(t, sessions.within)
	}
}
