package gateway

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap/zapcore"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// TestWithoutAccounts: where the administration keeps none, no password is reset.
func TestWithoutAccounts(t *testing.T) {
	t.Parallel()
	h := newFixture(t, func(_ *fixture, o *Options) { o.Resets = nil })
	refused(t, h.as("demo").ask("POST", "/authenticate/forgotpassword", `{"username":"demo"}`),
		fault{400, "Invalid endpoint: /authenticate/forgotpassword", mapping.EndpointUnknown, ""})
	refused(t, visitor{h: h}.ask("GET", "/authenticate/resetpassword", ""),
		fault{400, "Invalid endpoint: /authenticate/resetpassword", mapping.EndpointUnknown, ""})
}

// TestTokenEndsAfterHalfAnHour, to the moment.
func TestTokenEndsAfterHalfAnHour(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	demo := h.as("demo")
	h.clock.Advance(30*time.Minute - 1)
	require.Equal(t, 200, demo.ask("GET", "/order/1", "").status)
	h.clock.Advance(1)
	refused(t, demo.ask("GET", "/order/1", ""), fault{401, "Not authorized", "token_invalid", ""})
}

func TestClientAddress(t *testing.T) {
	trusting := &Gateway{o: Options{TrustedProxies: []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48"),
	}}}
	for _, c := range []struct {
		name, peer string
		header     []string
		want       string
	}{
		{"no header", "10.0.0.1", nil, "10.0.0.1"},
		{"one proxy", "10.0.0.1", []string{"192.0.2.7"}, "192.0.2.7"},
		{"one proxy, mapped", "::ffff:10.0.0.1", []string{"::ffff:192.0.2.7"}, "192.0.2.7"},
		{"one proxy, IPv6", "2001:db8:1::5", []string{"2001:db8:2::7"}, "2001:db8:2::7"},
		{"what the client claims is further left", "10.0.0.1", []string{"198.51.100.1, 192.0.2.7"}, "192.0.2.7"},
		{"two proxies", "10.0.0.1", []string{"198.51.100.1, 192.0.2.7,10.1.2.3"}, "192.0.2.7"},
		{"a client that pretends to be a proxy", "10.0.0.1", []string{"10.9.9.9, 192.0.2.7"}, "192.0.2.7"},
		{"a line for each proxy", "10.0.0.1", []string{"198.51.100.1", "192.0.2.7", "10.1.2.3"}, "192.0.2.7"},
		{"all of the house", "10.0.0.1", []string{"10.5.5.5, 10.1.2.3"}, "10.5.5.5"},
		{"with ports", "10.0.0.1", []string{"192.0.2.7:51234, [2001:db8:1::5]:443"}, "192.0.2.7"},
		{"with brackets", "10.0.0.1", []string{"2001:db8:2::7, [2001:db8:1::5]"}, "2001:db8:2::7"},
		{"rubbish in brackets", "10.0.0.1", []string{"[192.0.2.7:80]"}, ""},
		{"rubbish", "10.0.0.1", []string{"192.0.2.7, unknown"}, ""},
		{"rubbish behind a proxy", "10.0.0.1", []string{"_hidden, 10.1.2.3"}, ""},
		{"rubbish that is not looked at", "10.0.0.1", []string{"<script>, 192.0.2.7"}, "192.0.2.7"},
		{"an empty line", "10.0.0.1", []string{""}, ""},
		{"an empty place", "10.0.0.1", []string{"192.0.2.7,"}, ""},
		{"a zone", "10.0.0.1", []string{"fe80::1%eth0"}, ""},
		{"no proxy of ours", "192.0.2.1", []string{"198.51.100.1"}, "192.0.2.1"},
		{"no address", "", []string{"198.51.100.1"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h fasthttp.RequestHeader
			for _, line := range c.header {
				h.Add("X-Forwarded-For", line)
			}
			require.Equal(t, c.want, trusting.clientAddress(c.peer, &h))
			require.Equal(t, c.peer, new(Gateway).clientAddress(c.peer, &h), "nobody is trusted")
		})
	}
}

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
