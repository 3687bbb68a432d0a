package gateway

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/netip"
	"net/url"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// LiveEnvironment is the environment whose records are real; any other is for tests.
const LiveEnvironment = "production"

// Options are what a Gateway is made of. All fields are required unless their comment
// says otherwise.
type Options struct {
	BasePath    string         // everything is served under it: /webservice_v2
	PublicURL   string         // the base address as clients reach it
	Vendor      string         // who issues api_keys, as the test page names it
	Environment string         // named by GET /util/environment
	Version     string         // of this program
	Location    *time.Location // where a date without a zone begins
	SessionTTL  time.Duration  // how long a token is valid, as Login has it
	PageLimit   int            // how many bytes of texts and contents a page of a list has at most; 0 for no bound

	Offer    backend.Offer // of Backend
	Backend  *backend.Client
	Sessions auth.Sessions
	// KeyEnded reports whether an api_key of that hash has just been ended at another gateway; nil where
	// there is no other. Sessions of the key end by themselves.
	KeyEnded func(ctx context.Context, hash [32]byte) bool
	Limits   auth.Limits
	Login    *auth.Login
	Resets   *auth.Resets   // nil where the backend keeps no accounts of its own
	Policy   func() *Policy // returns the current one; called once per request
	// Examples are request examples for the description that work with the data of this
	// administration, by operationId, for the api_key of that name; nil for the model's
	// examples only.
	Examples func(key string) map[string]Example
	// Callbacks are what long-running operations need; nil where there are none.
	Callbacks *Callbacks

	// Away returns why the administration cannot be reached yet; nil where it can be. With Away every
	// request for an endpoint is answered as unavailable, and Backend, Sessions, Limits, Login and the
	// stores of Callbacks are not used.
	Away func() error

	// TrustedProxies are those whose X-Forwarded-For says where a request comes
	// from; nil for none.
	TrustedProxies []netip.Prefix

	Clock func() time.Time
	Log   *zap.Logger
	// Access is where the line of each request goes.
	Access *zap.Logger
	Meter  Meter // nil where nothing is counted
	// Act adds to the operators' list of what was done; nil where there is no list.
	Act func(Act)
	// Tracer makes the spans of requests; nil where there are no traces.
	Tracer trace.Tracer
}

// Gateway serves the interface. It is safe for concurrent use. Its only state are the idempotency
// keys being served, the last refusals, and how far changes were looked through for jobs that wait.
type Gateway struct {
	o          Options
	catalogue  *mapping.Catalogue
	publicPath string                    // of PublicURL, for addresses within answers
	help       map[mapping.Reason][]byte // the link to the explanation of each
	routes     *routes
	backend    administration
	views      *lru.Cache[string, *Gateway] // gateways for api_keys with rights to some fields, by these rights
	paths      []string                     // of all endpoints, to suggest the one that was meant
	refusals   refusals
	running    *sync.Map // idempotency keys being served
	waits      waits
	exchanges  sync.Pool // of *Exchange
	explain    func() fasthttp.RequestHandler
	direct     func() fasthttp.RequestHandler // of background jobs
	tools      func() fasthttp.RequestHandler // of agents
	protocol   func() http.Handler            // of the agents' messages
}

// New returns a gateway.
func New(o Options) *Gateway {
	g := &Gateway{o: o, catalogue: mapping.NewCatalogue(), publicPath: o.BasePath, backend: o.Backend, running: new(sync.Map)}
	g.views, _ = lru.New[string, *Gateway](keptViews) // New fails only for a size of 0
	if at, err := url.Parse(o.PublicURL); err == nil && at.Host != "" {
		g.publicPath = at.EscapedPath()
	}
	g.help = g.helpLinks()
	g.routes = g.newRoutes(nil)
	g.paths = slices.Sorted(maps.Keys(g.routes.endpoints))
	g.explain, g.direct = sync.OnceValue(g.explainHandler), sync.OnceValue(g.directly)
	g.tools, g.protocol = sync.OnceValue(g.toolHandler), sync.OnceValue(g.protocolHandler)
	return g
}

// Grants returns what an allowlist can grant, by Operation.Number; auth.Key.Allowed is aligned with
// it.
func (g *Gateway) Grants() []Grant {
	grants := make([]Grant, len(g.routes.numbered))
	for number, op := range g.routes.numbered {
		grants[number], _ = op.Grant()
	}
	return grants
}

// Model returns what the administration offers of the interface.
func (g *Gateway) Model() *mapping.Model { return g.o.Offer.Model }

// Endpoints returns all that an allowlist can name where the administration
// offers this.
func Endpoints(offer backend.Offer) []Grant {
	none := func(Grant) bool { return false }
	g := &Gateway{o: Options{Offer: offer, Resets: new(auth.Resets), Callbacks: &Callbacks{Long: none}}}
	var all []Grant
	for op := range g.newRoutes(nil).operations {
		all = append(all, Grant{Method: op.Method, Path: op.Endpoint.Path})
	}
	return all
}

// busyRetry is when a client that was turned away by overload should try again.
const busyRetry = 2 * time.Second

// overloaded returns the answer to a request for which there is no room.
func overloaded() error {
	return mapping.Fail(mapping.Overloaded).After(busyRetry)
}

// busy returns the complete answer to a connection that is refused by overload. It belongs to
// no request, so it is counted with the connections.
func (g *Gateway) busy() []byte {
	rc := new(fasthttp.RequestCtx)
	rc.Init(new(fasthttp.Request), nil, nil)
	x := g.newExchange(rc)
	defer g.release(x)
	x.RequestID = requestID(nil)
	x.prepare()
	g.answerError(x, overloaded())
	x.response.SetConnectionClose()
	var sent bytes.Buffer
	_, _ = x.response.WriteTo(&sent) // to memory
	return sent.Bytes()
}

// panicked returns the error of a recovered panic.
func panicked(p any) error { return fmt.Errorf("panic: %v\n%s", p, debug.Stack()) }

// takeURI splits a request's target as it was sent. Nothing is decoded or cleaned, so the
// path that is judged is the path that is routed.
func (x *Exchange) takeURI(g *Gateway, raw []byte) {
	path, query, _ := bytes.Cut(raw, []byte{'?'})
	if scheme, rest, absolute := bytes.Cut(path, []byte("://")); absolute && isHTTP(scheme) {
		if slash := bytes.IndexByte(rest, '/'); slash >= 0 {
			path = rest[slash:]
		} else {
			path = []byte{'/'}
		}
	}
	x.fullPath = string(path)
	x.Path, x.below = g.belowBase(x.fullPath)
	x.rawQuery = query
}

// isHTTP reports whether a target is an absolute http or https URL, and not a path that
// contains ://.
func isHTTP(scheme []byte) bool {
	return bytes.EqualFold(scheme, []byte("http")) || bytes.EqualFold(scheme, []byte("https"))
}

// belowBase returns the part of a path below the base path; false, and the
// whole path, where it is not below it.
func (g *Gateway) belowBase(path string) (string, bool) {
	below, ok := strings.CutPrefix(path, g.o.BasePath)
	switch {
	case !ok || below != "" && below[0] != '/':
		return path, false
	case below == "":
		return "/", true
	default:
		return below, true
	}
}

// requestID keeps a client's own request id if it has a harmless form.
func requestID(given []byte) string {
	if len(given) == 0 || len(given) > 128 || len(bytes.Trim(given, lettersAndDigits+"._:-")) > 0 {
		return newRequestID()
	}
	return string(given)
}

// newRequestID returns a random UUID. It is a name and no secret, so it takes its bits from where
// they cost least.
func newRequestID() string {
	var id uuid.UUID
	binary.LittleEndian.PutUint64(id[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(id[8:], rand.Uint64())
	id[6] = id[6]&0x0f | 0x40 // version 4
	id[8] = id[8]&0x3f | 0x80 // of RFC 9562
	return id.String()
}

// methodName avoids an allocation for the usual methods.
func methodName(b []byte) string {
	for _, m := range [...]string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		if string(b) == m {
			return m
		}
	}
	return string(b)
}
