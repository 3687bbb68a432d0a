package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/mapping"
)

// Exchange is one request on its way through the stages, and its answer. It belongs to
// one goroutine and is reused: nothing may hold on to it, or to the request's bytes,
// after the answer.
type Exchange struct {
	ctx      context.Context // of all that is done for it
	request  *fasthttp.Request
	response *fasthttp.Response
	conn     *conn    // nil where it did not come over one
	incoming incoming // the body, where it comes over conn
	sent     []byte   // the body, once it has come

	RequestID string
	Address   string // of the client; "" where nobody knows it
	Method    string
	Path      string // below the base path, as it was sent
	Item      string // the last part of /<resource>/<id>
	Endpoint  *Endpoint
	Operation *Operation

	peer    Peer
	policy  *Policy // in force when the request came
	Session *auth.Session
	Key     *auth.Key
	keyHash *auth.KeyHash // by which of its hashes an api_key was used; nil where none was

	standing auth.Standing // of the key with its limits, where counted
	counted  bool
	cause    string     // which limit refused the request; for the log and metrics only
	why      auth.Cause // why the token, the login or the api_key was refused; likewise

	Params []Param
	ID     int32         // the primary ID asked for, or of the record that was made; 0 where there is none
	wrote  []int32       // the primary IDs of those that were written among several
	Query  backend.Query // made of the query parameters
	Body   *mapping.Body // nil where the operation takes none

	several *mapping.Several // the body of an operation that writes several records

	routes     *routes
	background bool     // a background job: the request was judged when it was accepted
	without    []string // of a background job: arrays that its records may not have
	needs      []string // rights that it needs in addition to its operation: POST /orderline
	lacks      []string // those of needs that the allowlist does not grant

	rights      mapping.Rights // to fields, of the api_key; nil for all of them
	lacksFields []string       // fields that it named and may not use: contact.note

	deprecated  []DeprecatedUse      // deprecated parts that the request names or gets
	deprecation *mapping.Deprecation // the first days of all these; nil for none

	callback   *url.URL // of the receiver, where the operation answers by callback
	storedBody []byte   // body of the stored request of such an operation

	idempotencyKey string        // the Idempotency-Key, judged; "" where there is none
	answerLife     time.Duration // how long the answer is kept under it; 0 for the usual
	begun          bool          // an earlier claim of the job, which was cut off, had begun the write
	below          bool          // the path is below the base path
	fullPath       string        // the path with the base path
	rawQuery       []byte        // as it was sent
	started        time.Time
	bodyTime       time.Duration  // time in which the body arrived
	backendTime    time.Duration  // sum of the times of all calls of the administration
	span           trace.Span     // nil where there are no traces
	reason         mapping.Reason // of the first error answered
	cured          *mapping.Error // whose cure was found last
	cureText       string         // and what it is
	keyName        string
	client         string
	stopped        string          // the stage that was last; "" while the endpoint is looked for
	err            error           // a recovered panic; of an explanation, a job and a tool, why it was refused
	explained      *Hypothetical   // nil of a real request
	closeAfter     bool            // the client wants no further request on the connection
	bodyless       bool            // the explanation ended before the body
	toolArguments  json.RawMessage // of the tool, as they were sent
	tool           string          // the agent's tool whose request it is; "" for none
	rehearsal      *backend.Rehearsal
	scratch, room  []byte // kept from one request to the next; room is for small bodies
}

// Param is one query parameter, decoded.
type Param struct {
	Name, Value string
}

// newExchange returns the Exchange of a request, with what every request has. A reused one is empty
// otherwise: release has cleared it.
func (g *Gateway) newExchange(rc *fasthttp.RequestCtx) *Exchange {
	x, reused := g.exchanges.Get().(*Exchange)
	if !reused {
		x = new(Exchange)
	}
	x.request, x.response, x.ctx, x.routes, x.started = &rc.Request, &rc.Response, context.Background(), g.routes, g.o.Clock()
	if c, ok := rc.Conn().(*conn); ok {
		x.conn, x.ctx, x.peer = c, c.server.running, c.verified()
	} else {
		x.peer = Peer{Address: addressOf(rc.RemoteAddr())}
	}
	x.Address = g.clientAddress(x.peer.Address, &rc.Request.Header)
	rc.SetUserValue(exchangeKey{}, x)
	return x
}

// innerExchange makes the Exchange of a request that no client sent over a connection: an agent's
// tool, a stored request, a hypothetical one. body is not changed.
func (g *Gateway) innerExchange(method, target string, body []byte) (*fasthttp.RequestCtx, *Exchange) {
	rc := new(fasthttp.RequestCtx)
	rc.Init(new(fasthttp.Request), nil, nil)
	rc.Request.Header.SetMethod(method)
	rc.Request.SetRequestURI(target)
	rc.Request.SetBodyRaw(body)
	x := g.newExchange(rc)
	x.Method = method
	x.takeURI(g, rc.Request.Header.RequestURI())
	return rc, x
}

func (g *Gateway) release(x *Exchange) {
	params, scratch, room := x.Params, x.scratch, x.room
	clear(params)
	*x = Exchange{}
	x.Params, x.scratch, x.room = params[:0], scratch, room
	g.exchanges.Put(x)
}

// Param returns the value of a query parameter, "" where it was not given.
func (x *Exchange) Param(name string) string {
	for i := range x.Params {
		if x.Params[i].Name == name {
			return x.Params[i].Value
		}
	}
	return ""
}

// HasParam reports whether a query parameter was given, be it empty.
func (x *Exchange) HasParam(name string) bool {
	return slices.ContainsFunc(x.Params, func(p Param) bool { return p.Name == name })
}

// headerSent returns a header, and whether it was sent at all, even empty. If it was sent
// more than once, the value is HTTP's comma-separated list, which is neither a valid token
// nor a valid key.
func (x *Exchange) headerSent(name string) (value []byte, sent bool) {
	all := x.request.Header.PeekAll(name)
	switch len(all) {
	case 0:
		return nil, false
	case 1:
		return all[0], true
	default:
		return bytes.Join(all, []byte(", ")), true
	}
}

// header returns a request header as a string of its own; several lines of it are one list.
func (x *Exchange) header(name string) string {
	value, _ := x.headerSent(name)
	return string(value)
}

// scopes returns the scopes of the catalogue in which an error of this exchange is looked up.
func (x *Exchange) scopes() []mapping.Scope {
	if x.Operation == nil {
		return nil
	}
	return x.Operation.scopes
}

// user returns the session's user; the zero User before there is a session.
func (x *Exchange) user() auth.User {
	if x.Session == nil {
		return auth.User{}
	}
	return x.Session.User
}

// requestContext carries the id of the request that work is done for, and the time that
// calls of the administration took for it. Unlike the Exchange it is made anew for each
// request, so work that goes on after the answer is not counted for another request.
type requestContext struct {
	context.Context
	id    string
	user  auth.User
	spent atomic.Int64 // that time, in nanoseconds
}

// requestKey is the key of a requestContext in itself and in what is made of it.
type requestKey struct{}

func (c *requestContext) Value(key any) any {
	if key == (requestKey{}) {
		return c
	}
	return c.Context.Value(key)
}

// NoteBackend adds to the backend time in the access line of the request that ctx belongs
// to; it does nothing if there is none.
func NoteBackend(ctx context.Context, took time.Duration) {
	if of, ok := ctx.Value(requestKey{}).(*requestContext); ok {
		of.spent.Add(int64(took))
	}
}

// UserOf returns the user of the request that ctx belongs to; the zero User where there is none.
func UserOf(ctx context.Context) auth.User {
	if of, ok := ctx.Value(requestKey{}).(*requestContext); ok {
		return of.user
	}
	return auth.User{}
}

// RequestIDOf returns the id of the request that ctx belongs to, "" where there
// is none: drivers pass it on to the systems that they call.
func RequestIDOf(ctx context.Context) string {
	if of, ok := ctx.Value(requestKey{}).(*requestContext); ok {
		return of.id
	}
	return ""
}
