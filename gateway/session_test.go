package gateway

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
	"go.uber.org/zap/zapcore"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/rig/must"
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

// TestMistakesAreCured sends what integrators get wrong (testdata/mistakes.yaml), and looks for
// what cures it: in the answer alone, which is its body and the titles of its links.
func TestMistakesAreCured(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t)
	demo := h.as("demo")
	const order = `"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-07-01"`
	text := must.Have(os.ReadFile("testdata/mistakes.yaml"))(t)
	var mistakes []struct {
		What, Send, Body, Cure string
		Headers                []string
	}
	require.NoError(t, yaml.Unmarshal(text, &mistakes))
	require.Greater(t, len(mistakes), 60)
	placeholders := strings.NewReplacer("<order>", order, "<key>", keyAll, "<501 records>", recordsOf(strings.Repeat("{},", 500)+"{}"))
	for _, m := range mistakes {
		who := demo
		if len(m.Headers) > 0 && m.Headers[0] == "token" {
			who, m.Headers = visitor{h.fixture, placeholders.Replace(m.Headers[1])}, m.Headers[2:]
		}
		method, target, _ := strings.Cut(m.Send, " ")
		a := who.ask(method, target, placeholders.Replace(m.Body), m.Headers...)
		require.GreaterOrEqual(t, a.status, 400, "%s: %s", m.What, a.body)
		told := strings.ReplaceAll(a.head("Link"), `\"`, `"`)
		assert.Contains(t, a.body+told, m.Cure, m.What)
	}
}

// TestHelpIsLinked tells of several errors what to do about the first of each reason, in a
// header that a program can read.
func TestHelpIsLinked(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, e := range h.catalogue.Entries() {
		require.Regexp(t, `^[ -~]+$`, e.Cure, e.Reason)
	}
	demo := h.as("demo")
	a := demo.ask("POST", "/order", `{"colour":"red","size":1,"order_date":"soon","kind":"repair"}`)
	var linked []string
	for _, link := range regexp.MustCompile(`errors#(\w+)>`).FindAllStringSubmatch(a.head("Link"), -1) {
		linked = append(linked, link[1])
	}
	require.Equal(t, []string{"field_not_in_model", "field_required", "timestamp_invalid"}, linked)
	require.Contains(t, a.head("Link"), `<https://api.example.nl/webservice_v2/errors#timestamp_invalid>; rel="help"; title="Send 2026-07-01T10:00:00Z`)
	require.Less(t, len(a.head("Link")), 3<<10)
	require.Empty(t, demo.ask("GET", "/order/1", "").head("Link"))
}

func TestUnchanged(t *testing.T) {
	const byVersion, byContent = `"aaaaaa-2.k3x"`, `"aaaaaa.00112233445566778899aabb"`
	for _, c := range []struct {
		list, etag string
		want       bool
	}{
		{`"aaaaaa-2.k3x"`, byVersion, true},
		{`"bbbbbb-2.k3x"`, byVersion, true}, // read under another model
		{`"x", "bbbbbb-2.k3x"`, byVersion, true},
		{`*`, byVersion, true},
		{`"aaaaaa-1.k3x"`, byVersion, false},
		{`"bbbbbb-2.k3y"`, byVersion, false},
		{`W/"aaaaaa-2.k3x"`, byVersion, false},
		{`W/aaaa-2.k3x"`, byVersion, false},
		{`-2.k3x"`, byVersion, false},
		{``, byVersion, false},
		{byContent, byContent, true},
		{`"bbbbbb.00112233445566778899aabb"`, byContent, false}, // which may be of other fields
	} {
		require.Equal(t, c.want, unchanged(c.list, c.etag), "%s of %s", c.list, c.etag)
	}
}

// TestListsAreCompressed from 1 KiB on, for who takes that.
func TestListsAreCompressed(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	const list = "/country?page_size=50"
	plain := demo.ask("GET", list, "")
	require.Equal(t, 200, plain.status)
	require.Greater(t, len(plain.body), 1024)
	for accept, coding := range map[string]string{"": "", "identity": "", "gzip;q=0": "", "gzip": "gzip", "br": "br", "br, gzip;q=0": "br", "deflate, gzip, br": "gzip"} {
		a := demo.ask("GET", list, "", "Accept-Encoding", accept)
		require.Equal(t, coding, a.head("Content-Encoding"), accept)
		require.Equal(t, "Accept-Encoding", a.head("Vary"), accept)
		body := a.body
		switch coding {
		case "gzip":
			body = unzipped(t, a.body)
		case "br":
			body = string(must.Have(fasthttp.AppendUnbrotliBytes(nil, []byte(a.body)))(t))
		}
		require.Equal(t, plain.body, body, accept)
		require.True(t, coding == "" || len(a.body) < len(plain.body)/2, accept)
	}
	small := demo.ask("GET", "/country?page_size=1&fields=id", "", "Accept-Encoding", "gzip")
	require.Equal(t, 200, small.status)
	require.Empty(t, small.head("Content-Encoding"), "it is small")
	require.Equal(t, "Accept-Encoding", small.head("Vary"))
	for _, query := range []string{"/country?page=0", "/country?colour=1"} {
		a := demo.ask("GET", query, "", "Accept-Encoding", "gzip")
		require.Equal(t, 400, a.status)
		require.Empty(t, a.head("Vary"), "no refusal says that there is a list")
	}
	one := demo.ask("GET", "/country/528", "", "Accept-Encoding", "gzip")
	require.Empty(t, one.head("Vary")+one.head("Content-Encoding"))
	require.Equal(t, 304, demo.ask("GET", "/country/528", "", "Accept-Encoding", "gzip", "If-None-Match", one.head("ETag")).status)
}

func unzipped(t *testing.T, packed string) string {
	t.Helper()
	all := must.Have(io.ReadAll(must.Have(gzip.NewReader(strings.NewReader(packed)))(t)))(t)
	return string(all)
}
