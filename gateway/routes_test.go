package gateway

import (
	"context"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// tableOnly is a gateway that can route, and nothing else.
func tableOnly(t testing.TB) *Gateway {
	return offering(backend.Offer{Model: must.Have(sampleModel())(t), Exports: true})
}

// offering is one in front of what a backend offers.
func offering(offer backend.Offer) *Gateway {
	return New(Options{BasePath: "/webservice_v2", Offer: offer, Resets: new(auth.Resets), Location: time.UTC, Clock: time.Now, Policy: func() *Policy { return new(Policy) }})
}

// router asks a gateway which operation a request line names.
func router(g *Gateway) func(method, uri string) (*Exchange, error) {
	route := handlerOf(g.newApp(noteError, []fiber.Handler{g.atBase}, lastStage("", func(context.Context, *Exchange) error { return nil })))
	return func(method, uri string) (*Exchange, error) {
		rc := new(fasthttp.RequestCtx)
		rc.Init(new(fasthttp.Request), nil, nil)
		rc.Request.Header.SetMethod(method)
		rc.Request.SetRequestURI(uri)
		x := g.newExchange(rc)
		x.Method = method
		x.takeURI(g, []byte(uri))
		route(rc)
		return x, x.err
	}
}

func TestGrantsNumberEveryGovernedOperation(t *testing.T) {
	g := tableOnly(t)
	for number, grant := range g.Grants() {
		require.NotEmpty(t, grant.Method, number)
		require.False(t, isUnderAuthenticate(grant.Path), grant.Path)
	}
	e := g.routes.endpoints["/order"]
	require.Equal(t, e.list["GET"].Number, e.item["GET"].Number, "one entry covers /order and /order/<id>")
	require.NotEqual(t, e.list["GET"].Number, e.list["POST"].Number)
	require.True(t, slices.Contains(Endpoints(g.o.Offer), Grant{"GET", "/model/*"}))
}

// FuzzPath: what is judged is what is routed, whatever the bytes.
func FuzzPath(f *testing.F) {
	for _, s := range []string{"/webservice_v2/order/5", "/webservice_v2//order", "/webservice_v2/order/../x", "/webservice_v2/order%2f5", "/webservice_v2/order\x005"} {
		f.Add(s)
	}
	routed := router(tableOnly(f))
	f.Fuzz(func(t *testing.T, uri string) {
		x, err := routed("GET", uri)
		if err != nil {
			return
		}
		e := x.Endpoint
		if x.Item == "" {
			require.Equal(t, e.Path, x.Path)
			return
		}
		require.Equal(t, trimStar(e.Path)+"/"+x.Item, x.Path)
		require.False(t, strings.ContainsAny(x.Item, "/\\%;\x00"), x.Item)
		require.NotContains(t, []string{".", ".."}, x.Item)
	})
}

var escaped = regexp.MustCompile(`%[0-9A-Fa-f]{2}|%`)

// FuzzQuery: parameters mean what the standard library says they mean, where it
// has an opinion, and nothing ever panics.
func FuzzQuery(f *testing.F) {
	for _, s := range []string{"id=5&fields=id,number", "a=1&a=2", "a=%zz&b=%2", "%69d=+x", "=&&=x", "a=%ff", "order_id=1&sort=-id", "&&", "a=1&&b=2=3", "%61=%2541&a+b=c%20+d", "a=%c3%A9%&b=%4"} {
		f.Add(s)
	}
	g := tableOnly(f)
	routed := router(g)
	f.Fuzz(func(t *testing.T, raw string) {
		params := appendParams(nil, []byte(raw))
		want, err := url.ParseQuery(escaped.ReplaceAllStringFunc(raw, func(escape string) string {
			return escape + strings.Repeat("25", len(escape)%3) // a % that begins no escape stands for itself
		}))
		if err == nil && !strings.Contains(raw, ";") {
			got := url.Values{}
			for _, p := range params {
				got.Add(p.Name, p.Value)
			}
			require.Equal(t, want, got)
		}
		for _, path := range []string{"/webservice_v2/order", "/webservice_v2/orderline", "/webservice_v2/contact/checkaddress", "/webservice_v2/authenticate"} {
			x := must.Have(routed("GET", path))(t)
			x.rawQuery = []byte(raw)
			if err := g.query(context.Background(), x); err != nil {
				v, ok := mapping.AsViolations(err)
				require.True(t, ok)
				for _, e := range v {
					require.Less(t, g.catalogue.Lookup(e.Reason, x.scopes()...).Status, 500)
				}
			}
		}
	})
}

// What a backend lacks is no endpoint: of operations, of resources, and of the
// endpoints that work with them.
func TestEndpointsOfABackendThatHasNotAll(t *testing.T) {
	model := must.Have(sampleModel())(t)
	offer := backend.Offer{Model: model, Supports: func(r *mapping.Resource, op mapping.Scope) bool {
		switch r.Name {
		case "order":
			return op == mapping.OpGet
		case "contact":
			return op == mapping.OpList || op == mapping.OpUpdate
		case "vehicle":
			return op != mapping.OpUpdate
		default:
			return r.Name != "document"
		}
	}}
	grants := Endpoints(offer)
	for _, c := range []struct {
		grant Grant
		there bool
	}{
		{Grant{"GET", "/order"}, true}, {Grant{"POST", "/order"}, false}, {Grant{"PUT", "/order"}, false},
		{Grant{"GET", "/contact"}, true}, {Grant{"PUT", "/contact"}, true}, {Grant{"DELETE", "/contact"}, false},
		{Grant{"GET", "/document"}, false}, {Grant{"GET", "/document/info"}, false},
		{Grant{"PUT", "/vehicle/publishstart"}, false}, {Grant{"PUT", "/updatelicenseplate"}, false},
		{Grant{"GET", "/empoyee/email"}, true}, {Grant{"POST", "/backup/owner"}, false},
	} {
		require.Equal(t, c.there, slices.Contains(grants, c.grant), "%v", c.grant)
	}
	routed := router(offering(offer))
	for uri, reason := range map[string]mapping.Reason{
		"/webservice_v2/order":      mapping.MethodUnsupported, // the list; one can be got
		"/webservice_v2/contact/1":  mapping.MethodUnsupported,
		"/webservice_v2/document/1": mapping.EndpointUnknown,
	} {
		_, err := routed("GET", uri)
		require.True(t, mapping.Is(err, reason), "%s: %v", uri, err)
	}

	// Nothing publishes where the backend cannot write what tells so.
	grants = Endpoints(backend.Offer{Model: model, Writes: func(_ *mapping.Resource, f *mapping.Field) bool { return f.Name != "publish_status" }})
	for path, there := range map[string]bool{"/vehicle/publishstart": false, "/vehicle/publishstop": false, "/updatelicenseplate": true} {
		require.Equal(t, there, slices.Contains(grants, Grant{"PUT", path}), path)
	}
}

// keyFor is an api_key that may do what the grants say.
func keyFor(g *Gateway, allowed ...Grant) *auth.Key {
	key := &auth.Key{Name: "test", Allowed: make([]bool, len(g.Grants()))}
	for n, grant := range g.Grants() {
		for _, a := range allowed {
			key.Allowed[n] = key.Allowed[n] || grant == a
		}
	}
	return key
}

// TestEveryOperationIsFoundByItsLine: what the access log keeps of a request names
// one operation, and no two.
func TestEveryOperationIsFoundByItsLine(t *testing.T) {
	g := tableOnly(t)
	for op := range g.routes.operations {
		require.Same(t, op, g.Logged(op.Method, op.Template), "%s %s", op.Method, op.Template)
	}
}

func TestMethodsOfAPath(t *testing.T) {
	g := tableOnly(t)
	require.Equal(t, []string{"GET", "POST", "PUT", "DELETE"}, g.Methods("/order"))
	require.Equal(t, []string{"GET", "PUT", "DELETE"}, g.Methods("/order/5"))
	require.Equal(t, []string{"GET"}, g.Methods("/model/order"))
	require.Equal(t, []string{"PUT"}, g.Methods("/vehicle/publishstop"))
	require.Nil(t, g.Methods("/model"))
	require.Nil(t, g.Methods("/order/"))
}

// TestArraysThatAreTheOnlyWay: where nobody is offered the elements by themselves,
// the array goes with the record that has it.
func TestArraysThatAreTheOnlyWay(t *testing.T) {
	model := must.Have(sampleModel())(t)
	lines := model.Resource("order").Field("orderlines")
	g := offering(backend.Offer{Model: model, Supports: func(r *mapping.Resource, op mapping.Scope) bool {
		return r.Name != "orderline" || op == mapping.OpCreate
	}})
	key := keyFor(g, Grant{"GET", "/order"}, Grant{"POST", "/order"})
	require.True(t, g.routes.mayUse(key, lines, arrayRead))
	require.False(t, g.routes.mayUse(key, lines, arraySend))
	require.Equal(t, []ArrayNeed{{Field: "orderlines", Operation: Grant{"POST", "/order"}, Grant: Grant{"POST", "/orderline"}}}, g.ArraysWithheld(key))
}

func TestArraysOfAQuery(t *testing.T) {
	g := tableOnly(t)
	key := keyFor(g, Grant{"GET", "/order"})
	for query, lacks := range map[string][]string{
		"": nil, "fields=id": nil, "fields=%6eumber": nil, "fields=id,orderlines": {"GET /orderline"}, "f%69elds=id%2corder%6cines": {"GET /orderline"},
	} {
		for _, path := range []string{"/webservice_v2/order/5", "/webservice_v2/order"} {
			e := g.Explain(Hypothetical{Method: "GET", Target: path + "?" + query, Key: key})
			require.Equal(t, lacks, e.Lacks, query)
			require.Equal(t, lacks != nil, e.Stopped == StageQuery, query)
		}
	}
}

// TestLists: a comma separates, also as %2C, which URL libraries write for one; within a value it
// is \,. So it is in the address of the next page and in a stored request.
func TestLists(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]string{
		"F1480%2CF878": {"F1480", "F878"}, "F1480,F878": {"F1480", "F878"}, "a%5C%2Cb,c+d,,%25": {"a,b", "c d", "", "%"},
		"a%5C,b": {"a,b"}, "%5C%5C,x%5Cy%5C": {`\,x\y\`}, "": {""}, "Jans%C3%A9n,%CE%A9": {"Jansén", "Ω"},
	} {
		params := appendParams(nil, []byte("name[in]="+raw+"&name=a,b"))
		require.Equal(t, want, params[0].list(), raw)
		require.Equal(t, want, appendParams(nil, []byte(encodeParams(params)))[0].list(), raw)
	}
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int32{
		"1": 1, "2147483647": 1<<31 - 1, "2147483648": 0, "9999999999": 0, "12345678901": 0,
		"": 0, "0": 0, "01": 0, "-1": 0, "+1": 0, "1.0": 0, " 1": 0, "1e3": 0, "٣": 0,
	} {
		id, ok := parseID(s)
		require.Equal(t, want != 0, ok, s)
		if ok {
			require.Equal(t, want, id, s)
		}
	}
}
