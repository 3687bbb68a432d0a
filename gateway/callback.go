package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/valyala/fasthttp"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// Callbacks are the parts for operations whose work takes longer than a client waits.
type Callbacks struct {
	Orchestrator *webhook.Orchestrator
	Links        *webhook.Links
	Results      webhook.Results
	Rules        webhook.Rules
	// FindUser returns a user as he is now, for work that is judged again before it is done,
	// or auth.ErrUnknownUser.
	FindUser func(ctx context.Context, username string) (auth.User, error)
	// Timeout bounds each call of the job store and the results; 503 is the answer if
	// they take longer. Sending a result is not bounded by it.
	Timeout time.Duration
	// Long reports whether an operation answers by callback although it need not.
	Long func(Grant) bool
}

// The kinds of work that the gateway has done in the background.
const (
	backupWork  = "backup"  // all records of the client
	requestWork = "request" // an operation that is marked as long-running
)

// downloadPath is where results are fetched, by an address that needs no token.
const downloadPath = "/webhook/download"

// webhookURL is the name of the field, or query parameter, with the address of
// the receiver.
const webhookURL = "webhook_url"

// callbackRetry is when a client that is not called back may ask again, in
// seconds.
const callbackRetry = 5

// roomRetry is when a client whose results use up its share of the space may ask again.
const roomRetry = time.Minute

// callbackRoutes adds the endpoints of the Events chapter.
func (g *Gateway) callbackRoutes(r *routes) {
	address := mapping.NewForm("callback", callbackField())
	g.carried(r, "/backup/owner", "POST", &Operation{
		scopes: []mapping.Scope{mapping.OpCreate}, form: address, serve: g.accept(webhook.Work{Kind: backupWork}),
		check: func(x *Exchange) mapping.Violations {
			if v := x.Body.CheckCreate(); v != nil {
				return v
			}
			return x.takeCallback(g, x.Body.Record.Get(webhookURL))
		},
		about: about{
			name: "backupOwner", summary: "Make a backup of all records of the client", module: callbackModule,
			row:   "POST /backup/owner: body JSON object with webhook_url (string, must start with https, publicly reachable); HTTP 202 with JSON object holding successCode",
			note:  "The result is a ZIP file.",
			early: []mapping.Reason{mapping.ValidationFailed}, answers: answers{form: acceptForm},
		},
	})
	g.waitRoute(r)
	r.on(r.add("/webhook", nil), "GET", &Operation{
		params: []param{named("id", "What was added to the callback address, or came in the Location of the 202.", "").must()}, serve: g.bounded(g.collect),
		about: about{
			name: "getWebhookResult", summary: "The address of a result", module: callbackModule,
			row:  "GET /webhook: query id (string, the value the service added to the callback address); answers a JSON object with data.url",
			note: "The address needs no token, and is valid for an hour; ask again for a fresh one. 202 tells that there is no result yet.",
			late: []mapping.Reason{mapping.RecordNotFound, mapping.ResultTooLarge}, answers: answers{form: collectForm, name: "WebhookResult", data: resultAnswer{}},
		},
	})
	r.on(r.add(downloadPath, nil), "GET", &Operation{
		open: true, serve: g.download,
		params: worded( // an address that lacks something is a wrong one
			named("id", "Of the result.", "").must(), named("expires", "When the address ends to be valid.", "").must(),
			named("key", "Which key signed it.", "").must(), named("signature", "Covers every character before it.", "").must(),
		),
		about: about{
			name: "downloadResult", summary: "Download a result", module: callbackModule,
			row:  "When the payload is a file, the client downloads it with GET on data.url",
			note: "The whole address comes from `data.url`; it needs no token.",
			late: []mapping.Reason{mapping.RecordNotFound}, answers: answers{form: fileForm},
		},
	})
}

// callbackModule groups what has to do with callbacks.
const callbackModule = "callbacks"

type resultAnswer struct {
	URL string `json:"url" doc:"Where the result can be downloaded." example:"https://api.example.nl/webservice_v2/webhook/download?id=…"`
}

// callbackField returns the field with the address of a receiver.
func callbackField() mapping.Field {
	return mapping.Field{
		Name: webhookURL, Type: mapping.Varchar, Length: webhook.AddressLength, Required: true,
		Description: "Where to call when the result is there. It must start with https and be publicly reachable.",
		Example:     "https://webhook.example.nl/ready",
	}
}

// takeCallback judges the address of a receiver, as it was sent, and keeps it for Accept.
func (x *Exchange) takeCallback(g *Gateway, raw mapping.Value) (v mapping.Violations) {
	if raw.IsSet() && raw.Kind() != mapping.KindText {
		return mapping.Violations{mapping.Fail(mapping.VarcharInvalid, mapping.Literal(webhookURL), raw.Text())}
	}
	var err error
	x.callback, err = webhook.ParseCallback(raw.Text(), g.o.Callbacks.Rules)
	v, _ = mapping.AsViolations(err)
	return v
}

// owner returns the owner of a job that the request asks for.
func (x *Exchange) owner() webhook.Owner {
	return webhook.Owner{User: x.user(), Key: x.keyName, Rights: x.rights}
}

// bounded limits how long a request waits for the job store. If the store does not answer
// in time, because somebody holds a lock there, the client is asked to retry.
func (g *Gateway) bounded(do stage) stage {
	return func(ctx context.Context, x *Exchange) error {
		ctx, cancel := context.WithTimeout(ctx, g.o.Callbacks.Timeout)
		defer cancel()
		err := do(ctx, x)
		switch {
		case errors.Is(err, webhook.ErrUnknownJob):
			return mapping.Fail(mapping.RecordNotFound, mapping.Literal("id"), x.Param("id"))
		case errors.Is(err, backend.ErrUnsettled): // 503 would say that nothing was done
			return err
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, backend.ErrCollision):
			return mapping.Fail(mapping.Overloaded).Because(err).After(busyRetry)
		}
		return err
	}
}

// accept promises work and answers 202.
func (g *Gateway) accept(w webhook.Work) stage {
	return g.bounded(func(ctx context.Context, x *Exchange) error {
		id, err := g.o.Callbacks.Orchestrator.Accept(ctx, x.owner(), x.callback, w)
		switch {
		case errors.Is(err, webhook.ErrNoSpace):
			x.cause = "space"
			return mapping.Fail(mapping.Overloaded).After(roomRetry)
		case errors.Is(err, webhook.ErrTooMany):
			x.cause = "waits"
			return mapping.Fail(mapping.TooManyRequests).After(waitRetry)
		case err != nil:
			return err
		}
		if user := x.user(); w.Kind == backupWork {
			g.reportAct(x, Act{What: "backup by callback", Whom: "client " + user.Client.Name + ", job " + id, Who: "api_key " + x.keyName + ", user " + user.Username})
		}
		x.response.Header.Set("Location", g.publicPath+"/webhook?id="+url.QueryEscape(id))
		x.answerAccepted()
		return nil
	})
}

// collect answers with the address of a result.
func (g *Gateway) collect(ctx context.Context, x *Exchange) error {
	id := x.Param("id")
	job, err := g.o.Callbacks.Orchestrator.Collect(ctx, x.owner(), id)
	switch {
	case errors.Is(err, webhook.ErrNotReady):
		x.answerAccepted()
		return nil
	case err != nil:
		return err
	case job.NoRoom:
		return mapping.Fail(mapping.ResultTooLarge).Because(fmt.Errorf("job %s failed: %s", id, job.Failure))
	case job.Failure != "":
		return fmt.Errorf("job %s failed: %s", id, job.Failure)
	}
	query, err := g.o.Callbacks.Links.Sign(ctx, id)
	if err != nil {
		return err
	}
	x.answerJSON(resultAnswer{g.o.PublicURL + downloadPath + "?" + query})
	return nil
}

// download answers with a result, or a part of it. The signed address is all that is
// needed; a wrong one is answered like an unknown id.
func (g *Gateway) download(ctx context.Context, x *Exchange) error {
	var result webhook.Result
	var file webhook.Reader
	open := g.bounded(func(bounded context.Context, x *Exchange) error {
		id, ok, err := g.o.Callbacks.Links.Check(bounded, string(x.rawQuery))
		if err != nil {
			return err
		}
		var job webhook.Job
		if ok {
			if job, err = g.o.Callbacks.Orchestrator.Store.Get(bounded, id); err != nil {
				return err
			}
		}
		if result = job.Result; result.File == "" {
			return webhook.ErrUnknownJob
		}
		if file, err = g.o.Callbacks.Results.Open(ctx, result.File); err != nil { // not bounded: the file is read while the answer is sent
			return fmt.Errorf("result %s: %w", result.File, err)
		}
		return nil
	})
	if err := open(ctx, x); err != nil {
		return err
	}
	return x.answerFile(file, result)
}

// storedRequest is a long-running request as it is stored until its turn.
type storedRequest struct {
	Method, Path, Query string
	IfMatch             *string // nil: none was sent
	OnceKey             string
	Body                []byte
	Without             []string // arrays that its records may not have
}

// makeLong makes an operation answer by callback. Everything that can be judged without
// the backend is judged before the promise; the operation itself runs in the background,
// in its direct form.
func (g *Gateway) makeLong(op *Operation) {
	direct := *op
	op.direct = &direct
	inBody := op.Method == fasthttp.MethodPost || op.Method == fasthttp.MethodPut
	if !inBody {
		receiver := param{Field: callbackField(), worded: true}
		op.params = append([]param{receiver}, direct.params...)
		op.settle()
	}
	op.callbackInBody = inBody
	op.about.answers = answers{form: acceptForm}
	op.serve = g.acceptRequest
}

// acceptRequest promises to do the request in the background.
func (g *Gateway) acceptRequest(ctx context.Context, x *Exchange) error {
	stored := storedRequest{Method: x.Method, Path: x.Path, Query: encodeParams(x.Params), OnceKey: x.idempotencyKey, Body: x.storedBody, Without: x.without}
	if match, sent := x.headerSent("If-Match"); sent {
		stored.IfMatch = new(string(match))
	}
	data, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	return g.accept(webhook.Work{Kind: requestWork, Data: data})(ctx, x)
}

// callbackFromQuery takes the receiver's address out of the parameters.
func (x *Exchange) callbackFromQuery(g *Gateway) mapping.Violations {
	raw := x.Param(webhookURL)
	x.Params = x.paramsBut(webhookURL)
	return x.takeCallback(g, mapping.TextValue(raw))
}

// encodeParams writes parameters as a query.
func encodeParams(params []Param) string {
	var b []byte
	for _, p := range params {
		b = p.appendTo(b)
	}
	return string(b)
}

// callbackFromBody takes the receiver's address out of a JSON object, and
// returns what is left of it.
func (x *Exchange) callbackFromBody(g *Gateway, data []byte) ([]byte, error) {
	if isBlank(data) {
		if x.ID != 0 && x.Operation.bodyOptional {
			return nil, mapping.Fail(mapping.FieldRequired, mapping.Literal(webhookURL))
		}
		return nil, mapping.Fail(mapping.EmptyBody)
	}
	rest, raw, err := mapping.CutMember(data, webhookURL)
	if err != nil {
		return nil, err
	}
	x.storedBody = rest
	return rest, x.takeCallback(g, raw).Err()
}
