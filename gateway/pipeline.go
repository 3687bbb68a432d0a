package gateway

import (
	"bytes"
	"context"
	"errors"
	"time"

	"frontdesk/auth"
	"frontdesk/gateway/testpage"
	"frontdesk/mapping"
)

// stage is one step of a request. If it returns an error, that is the answer.
type stage func(ctx context.Context, x *Exchange) error

// The names of the stages, as an Explanation shows them.
const (
	StageEndpoint  = "endpoint"
	StageSession   = "session"
	StageAllowlist = "allowlist"
	StageLimits    = "limits"
	StageQuery     = "query"
	StageBody      = "body"
	StageRecord    = "record"
	StageServe     = "serve"
)

// ofPerson reports whether a browser sent the request, for a person who reads the answer.
func (x *Exchange) ofPerson() bool { return testpage.Takes(x.header("Accept"), "text/html") }

// awayRetry is when a client should try again while the administration cannot be reached.
const awayRetry = 5 * time.Second

// away answers while neither the administration nor the sessions can be reached.
func (g *Gateway) away(context.Context, *Exchange) error {
	return mapping.Fail(mapping.BackendUnavailable).Because(g.o.Away()).After(awayRetry)
}

// session finds the session of the request's token.
func (g *Gateway) session(ctx context.Context, x *Exchange) error {
	if x.Operation.open {
		return nil
	}
	return g.identify(ctx, x)
}

// identify puts the session of the token header, and its api_key, into x. If there is
// none, it notes for the log why, and whose session it was.
func (g *Gateway) identify(ctx context.Context, x *Exchange) error {
	token, _ := x.headerSent("Token")
	if len(token) == 0 {
		x.why = auth.CauseNone
		return mapping.Fail(mapping.NotLoggedIn)
	}
	hash, ok := auth.HashToken(token)
	if !ok {
		x.why = auth.CauseMalformed
		return mapping.Fail(mapping.TokenInvalid)
	}
	session, err := g.o.Sessions.Get(ctx, hash)
	if errors.Is(err, auth.ErrNoSession) {
		x.noteEnded(err)
		return mapping.Fail(mapping.TokenInvalid)
	}
	if err != nil {
		return mapping.Fail(mapping.InternalError).Because(err)
	}
	x.client = session.User.Client.Name
	key := x.apiKey(session.Key)
	if key == nil {
		if x.why == auth.CauseKeyUnknown {
			x.ended(session.Ended(auth.CauseKeyRevoked))
		}
		return mapping.Fail(mapping.TokenInvalid)
	}
	x.Session, x.Key = session, key
	return nil
}

// noteEnded notes what the store remembers of a token without a session.
func (x *Exchange) noteEnded(err error) {
	ended := &auth.Ended{Why: auth.CauseUnknown}
	_ = errors.As(err, &ended)
	x.ended(ended)
}

// ended notes the api_key, the client and the cause of a session that has ended.
func (x *Exchange) ended(was *auth.Ended) {
	x.keyName, x.client, x.why = was.KeyName, was.Client, was.Why
}

// allowlist hides what the api_key may not use.
func (g *Gateway) allowlist(_ context.Context, x *Exchange) error {
	if x.Key != nil && x.Key.Rights != nil {
		x.rights = x.Key.Rights
		if err := g.narrow(x); err != nil {
			return err
		}
	}
	x.noteSingle()
	reason := permit(x.Key, x.Operation)
	if reason != "" && x.Endpoint.hidesFrom(x.Key) {
		reason = x.fallBack()
	}
	if op := x.Operation; reason == "" && op.deprecated != nil {
		x.usesDeprecated(op.Method+" "+op.Template, op.deprecated)
	}
	return refusal(reason, x.Method, x.Path)
}

// query judges the query parameters: repeated ones first, then unsupported ones; missing
// ones come next, and values are judged by the operation's own parse.
func (g *Gateway) query(ctx context.Context, x *Exchange) error {
	if x.Params = appendParams(x.Params, x.rawQuery); len(x.Params) > 0 {
		if x.Operation.secretQuery {
			withoutSecrets(x.Params)
		}
		if err := repeated(x.Params); err != nil {
			return err
		}
		if err := unsupported(x.Params, x.Operation.takes); err != nil {
			return err
		}
	}
	if x.Operation.bodyFirst {
		if err := g.receive(ctx, x); err != nil {
			return err
		}
	}
	var v mapping.Violations
	if x.Operation.direct != nil && !x.Operation.callbackInBody {
		v = x.callbackFromQuery(g)
	}
	if v == nil {
		v = required(x, x.Operation.requires...)
	}
	if parse := x.Operation.parse; v == nil && parse != nil {
		v = parse(x)
	}
	if x.Operation.ownOrder {
		return v.Err()
	}
	return g.inOrder(x, v)
}

// byteOrderMark is what some programs write before a text in UTF-8.
var byteOrderMark = []byte("\ufeff")

// body reads the body of an operation that takes one.
func (g *Gateway) body(ctx context.Context, x *Exchange) error {
	if err := checkIdempotencyKey(x); err != nil {
		return err
	}
	if err := g.receive(ctx, x); err != nil {
		return err
	}
	if x.Operation.form == nil {
		return nil
	}
	data := bytes.TrimPrefix(x.sent, byteOrderMark)
	if x.Operation.single != nil {
		return x.decodeSeveral(data)
	}
	if x.Operation.callbackInBody {
		var err error
		if data, err = x.callbackFromBody(g, data); err != nil {
			return err
		}
	}
	if x.ID != 0 && x.Operation.bodyOptional && isBlank(data) {
		return nil
	}
	return g.decode(x, data)
}

// decode reads a body as a record.
func (g *Gateway) decode(x *Exchange, data []byte) (err error) {
	x.Body, err = mapping.DecodeBodyOf(x.Operation.form, (*sentArrays)(x), data, g.o.Location)
	if err == nil {
		x.Body.EachDeprecated(x.usesDeprecated)
	}
	return err
}

// record judges the body alone against its model.
func (g *Gateway) record(_ context.Context, x *Exchange) error {
	if x.Operation.check == nil {
		return nil
	}
	return g.inOrder(x, x.Operation.check(x))
}

// serve runs the operation.
func (g *Gateway) serve(ctx context.Context, x *Exchange) error {
	of := &requestContext{Context: ctx, id: x.RequestID, user: x.user()}
	defer func() { x.backendTime = time.Duration(of.spent.Load()) }() // also after a panic
	return x.Operation.serve(of, x)
}

// inOrder sorts violations into the row order of the operation's table.
func (g *Gateway) inOrder(x *Exchange, v mapping.Violations) error {
	if len(v) > 1 {
		g.catalogue.Sort(v, x.scopes()...)
	}
	return v.Err()
}
