package gateway

import (
	"context"
	"time"

	"github.com/valyala/fasthttp"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// ExplainedID stands for the request id in the answers of Explain.
const ExplainedID = "00000000-0000-4000-8000-000000000000"

// Asked is the hypothetical request that Explain is asked about.
type Asked struct {
	Method string
	Target string // as in a request line: a path with the base path, or an absolute URL
	Body   []byte // nil where it is not to be judged

	Key     *auth.Key // of the session; nil for one whose api_key is gone
	NoToken bool      // the request has no session at all
	At      time.Time
}

// Explanation is what becomes of a request before the backend is asked.
type Explanation struct {
	Decision
	Path    string   // that was judged: below the base path, or all of it where it is not below
	Below   bool     // the path is below the base path
	Params  []string // the query parameters that the operation takes, by name
	Session bool     // a session's api_key was judged: the operation is not open to everybody
	Stopped string   // the stage that ended it; "" where the backend would be asked
	Unread  bool     // the operation takes a body, and none was given
	Lacks   []string // what its arrays need and the allowlist does not grant: POST /orderline
	Status  int      // of the answer; 0 where the backend would be asked
	Answer  []byte   // what the client gets, with ExplainedID
}

// Explain takes a request through the stages of serving, with a session of the key, as
// far as these look only at the request: it does not ask the backend, and takes nothing
// from the key's limits.
func (g *Gateway) Explain(a Asked) Explanation {
	x := &Exchange{
		request: new(fasthttp.Request), response: new(fasthttp.Response), policy: new(Policy), routes: g.routes,
		started: a.At, Method: a.Method, RequestID: ExplainedID,
	}
	x.request.Header.SetMethod(a.Method)
	x.request.SetBody(a.Body)
	if !a.NoToken {
		x.request.Header.Set("Token", ExplainedID)
	}
	x.takeURI(g, []byte(a.Target))
	x.prepare()

	var e Explanation
	for _, s := range g.judging(a) {
		if e.Unread = a.Body == nil && s.name == StageBody && x.Operation.form != nil; e.Unread {
			break
		}
		if err := s.take(context.Background(), x); err != nil {
			g.answerError(x, err)
			e.Stopped = s.name
			e.Status, e.Answer = x.response.StatusCode(), x.response.Body()
			break
		}
	}
	if e.Stopped == "" && x.several != nil {
		g.noteNeeds(x)
	}
	e.Operation, e.Path, e.Below, e.Session = x.Operation, x.Path, x.below, x.Session != nil
	if e.Stopped == StageEndpoint || e.Stopped == StageAllowlist {
		e.Reason = x.reason
	}
	e.Params, e.Lacks = x.knownParams(), x.lacks
	return e
}

// noteNeeds notes which rights the arrays in several records need.
func (g *Gateway) noteNeeds(x *Exchange) {
	for _, data := range x.several.Records {
		_ = g.decode(x, data) // its errors are those of its record
	}
}

// judging are the stages that look only at the request, in the order of serving; the
// given session replaces the lookup of one.
func (g *Gateway) judging(a Asked) []namedStage {
	session := func(_ context.Context, x *Exchange) error {
		switch {
		case x.Operation.open:
			return nil
		case a.NoToken:
			return mapping.Fail(mapping.NotLoggedIn)
		case a.Key == nil:
			return mapping.Fail(mapping.TokenInvalid)
		}
		x.Session, x.Key = new(auth.Session), a.Key
		return nil
	}
	var all []namedStage
	for _, s := range g.pipeline {
		switch s.name {
		case StageSession:
			s.take = session
		case StageLimits, StageServe:
			continue
		}
		all = append(all, s)
	}
	return all
}

// Methods returns all methods at a path below the base path, whoever may use them, in the
// order of the interface; nil if there is no such endpoint.
func (g *Gateway) Methods(path string) []string {
	e, item := g.routes.find(path)
	if e == nil {
		return nil
	}
	at := e.list
	if item != "" {
		at = e.item
	}
	var methods []string
	for _, m := range [...]string{"GET", "POST", "PUT", "DELETE"} {
		if at[m] != nil || m == "GET" && e.item[m] != nil {
			methods = append(methods, m)
		}
	}
	return methods
}
