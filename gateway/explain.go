package gateway

import (
	"cmp"
	"context"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"frontdesk/auth"
	"frontdesk/mapping"
)

// ExplainedID stands for the request id in the answers of Explain.
const ExplainedID = "00000000-0000-4000-8000-000000000000"

// Hypothetical is a request for Explain.
type Hypothetical struct {
	Method string
	Target string // as in a request line: a path with the base path, or an absolute URL
	Body   []byte // nil where it is not to be judged

	Key     *auth.Key // of the session; nil for one whose api_key is gone
	NoToken bool      // the request has no session at all
	At      time.Time
}

// Explanation is what becomes of a request before the backend is called.
type Explanation struct {
	Decision
	Path    string   // the path that was judged: below the base path, or all of it where it is not below
	Below   bool     // the path is below the base path
	Params  []string // the query parameters that the operation takes, by name
	Session bool     // a session's api_key was judged: the operation is not open to everybody
	Stopped string   // the stage that ended it; "" where the backend would be called
	Unread  bool     // the operation takes a body, and none was given
	Fields  []string // fields that the request names and the api_key may not use: contact.note
	Lacks   []string // rights that its arrays need and the allowlist does not grant: POST /orderline
	Status  int      // of the answer; 0 where the backend would be called
	Answer  []byte   // body of the answer, with ExplainedID
}

// Explain takes a request through the handlers of serving, with a session of the key, as
// far as these look only at the request: it does not call the backend, and takes nothing
// from the key's limits.
func (g *Gateway) Explain(a Hypothetical) Explanation {
	rc, x := g.innerExchange(a.Method, a.Target, a.Body)
	if !a.NoToken {
		rc.Request.Header.Set("Token", ExplainedID) // any text: only its presence counts
	}
	x.policy, x.started, x.RequestID, x.explained = new(Policy), a.At, ExplainedID, &a
	x.prepare()
	g.explain()(rc)

	e := Explanation{Unread: x.bodyless}
	if x.err != nil {
		x.noteFields(x.err)
		g.answerError(x, x.err)
		e.Stopped, e.Status, e.Answer = cmp.Or(x.stopped, StageEndpoint), x.response.StatusCode(), x.response.Body()
	} else if x.several != nil {
		g.noteNeeds(x)
	}
	e.Operation, e.Path, e.Below, e.Session = x.Operation, x.Path, x.below, x.Session != nil
	if e.Stopped == StageEndpoint || e.Stopped == StageAllowlist {
		e.Reason = x.reason
	}
	e.Params, e.Lacks, e.Fields = x.knownParams(), x.lacks, x.lacksFields
	return e
}

// explainHandler returns the handlers of serving that look only at the request. The session is that of
// the key, and a body is judged if one was given.
func (g *Gateway) explainHandler() fasthttp.RequestHandler {
	return handlerOf(g.newApp(noteError, []fiber.Handler{g.atBase},
		stageHandler(StageSession, givenSession),
		stageHandler(StageAllowlist, g.allowlist),
		stageHandler(StageQuery, g.query),
		whereGiven,
		stageHandler(StageBody, g.body),
		lastStage(StageRecord, g.record)))
}

// givenSession is g.session for the session that an explanation is about.
func givenSession(_ context.Context, x *Exchange) error {
	switch {
	case x.Operation.open:
		return nil
	case x.explained.NoToken:
		return mapping.Fail(mapping.NotLoggedIn)
	case x.explained.Key == nil:
		return mapping.Fail(mapping.TokenInvalid)
	}
	x.Session, x.Key = new(auth.Session), x.explained.Key
	return nil
}

// whereGiven ends an explanation before the body if none was given.
func whereGiven(c *fiber.Ctx) error {
	x := exchangeOf(c)
	if x.bodyless = x.explained.Body == nil && x.Operation.form != nil; x.bodyless {
		return nil
	}
	return c.Next()
}

// noteNeeds notes which rights the arrays in several records need, and which fields of them the
// api_key may not use.
func (g *Gateway) noteNeeds(x *Exchange) {
	whole := x.Operation
	x.Operation = whole.single
	defer func() { x.Operation = whole }()
	for _, data := range x.several.Records {
		err := g.decode(x, data) // an error belongs to the record
		if err == nil {
			err = x.Operation.check(x).Err()
		}
		x.noteFields(err)
	}
}

// Methods returns all methods at a path below the base path, whoever may use them, in the
// order of the interface; nil if there is no such endpoint.
func (g *Gateway) Methods(path string) (methods []string) {
	for _, method := range [...]string{"GET", "POST", "PUT", "DELETE"} {
		if g.Explain(Hypothetical{Method: method, Target: g.o.BasePath + path, NoToken: true}).Operation != nil {
			methods = append(methods, method)
		}
	}
	return methods
}
