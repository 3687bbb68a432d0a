package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// Runners do the gateway's own kinds of background work.
func (g *Gateway) Runners() map[string]webhook.Runner {
	return map[string]webhook.Runner{backupWork: g.runBackup, requestWork: g.runRequest, changesWork: g.runChanges}
}

func (g *Gateway) runBackup(ctx context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
	if _, err := g.o.Backend.Export(ctx, j.Owner.User.Client, w); err != nil {
		return webhook.Content{}, passing(err)
	}
	return webhook.Content{Name: "backup-" + j.Created.UTC().Format("20060102-150405") + ".zip", Type: "application/zip"}, nil
}

// runRequest does a long-running operation. Its answer is the result, also when it is a
// refusal; only a failure of the server gives none. A write is begun again only if it
// cannot be done twice: otherwise a job that was cut off ends with the stored answer, or
// with an unknown outcome.
func (g *Gateway) runRequest(ctx context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
	var stored storedRequest
	if err := json.Unmarshal(j.Work.Data, &stored); err != nil {
		return webhook.Content{}, err
	}
	rc, x := g.storedExchange(ctx, j, &stored)
	defer g.release(x)
	x.without = stored.Without
	// A job that was interrupted after its work was stored does not do it twice,
	// whatever the method, nor do two that were asked for under one key.
	ownKey := stored.OnceKey == "" // only an earlier claim can have it in use
	if x.idempotencyKey = stored.OnceKey; ownKey {
		x.idempotencyKey, x.answerLife = "callback-"+j.ID, jobAnswerLife
	}
	repeatable := stored.Method == fasthttp.MethodGet || g.backend.Capabilities().Atomic
	x.begun = !repeatable && j.Claims > 1
	switch err := g.answerStored(rc, x); {
	case err == nil:
		return x.writeAnswer(w)
	case repeatable:
		return webhook.Content{}, passing(err)
	case x.begun, errors.Is(err, backend.ErrUnsettled), ownKey && errors.Is(err, webhook.ErrInUse):
		return webhook.Content{}, fmt.Errorf("%w: %w", webhook.ErrUnknown, err)
	default:
		return webhook.Content{}, err
	}
}

// passing marks a failure of the backend that is expected to pass.
func passing(err error) error {
	if mapping.Is(err, mapping.BackendUnavailable) || mapping.Is(err, mapping.BackendTimeout) || mapping.Is(err, mapping.BackendChanged) {
		return fmt.Errorf("%w: %w", webhook.ErrAgain, err)
	}
	return err
}

// jobAnswerLife is how long the answer of a job's work is stored with the work: the
// longest time that frontdesk may be down between the two halves of a job.
const jobAnswerLife = 90 * 24 * time.Hour

// answerStored does a stored request, unless it is refused already, and answers it.
func (g *Gateway) answerStored(rc *fasthttp.RequestCtx, x *Exchange) error {
	if x.err == nil {
		g.direct()(rc)
	}
	if x.err == nil {
		return nil
	}
	v, answer := mapping.AsViolations(x.err)
	if !answer || x.begun { // a refusal now says nothing about what was done then
		return x.err
	}
	if len(v) > 0 && v[0].Reason == mapping.IdempotencyInUse {
		// Another job uses the client's own key, or the transaction of a process that
		// was killed, which the database has not noticed yet.
		return fmt.Errorf("%w: %w", webhook.ErrInUse, x.err)
	}
	g.answerError(x, x.err)
	if x.response.StatusCode() >= http.StatusInternalServerError {
		return fmt.Errorf("answered %d: %w", x.response.StatusCode(), x.err)
	}
	return nil
}

// writeAnswer writes the answer of a stored request as the result.
func (x *Exchange) writeAnswer(w io.Writer) (webhook.Content, error) {
	_, err := w.Write(x.response.Body())
	return webhook.Content{Name: "answer-" + strconv.Itoa(x.response.StatusCode()) + ".json", Type: jsonType}, err
}

// storedExchange makes the exchange of a stored request. The caller releases it.
func (g *Gateway) storedExchange(ctx context.Context, j webhook.Job, stored *storedRequest) (*fasthttp.RequestCtx, *Exchange) {
	rc, x := g.innerExchange(stored.Method, g.o.BasePath+stored.Path+"?"+stored.Query, stored.Body)
	if stored.IfMatch != nil {
		rc.Request.Header.Set("If-Match", *stored.IfMatch)
	}
	x.ctx, x.policy, x.peer, x.Address = ctx, g.o.Policy(), Peer{}, ""
	x.RequestID, x.background = "callback-"+j.ID, true
	x.Session = &auth.Session{User: j.Owner.User}
	x.keyName, x.client, x.rights = j.Owner.Key, j.Owner.User.Client.Name, j.Owner.Rights
	return rc, x
}

// directly returns the handlers of a stored request. They note an error in its Exchange. Session
// and allowlist were judged when the request was accepted.
func (g *Gateway) directly() fasthttp.RequestHandler {
	return handlerOf(g.newApp(noteError, []fiber.Handler{g.atBase},
		stageHandler(StageEndpoint, g.inDirectForm),
		stageHandler(StageQuery, g.query),
		stageHandler(StageBody, g.body),
		stageHandler(StageRecord, g.record),
		lastStage(StageServe, g.serve)))
}

// inDirectForm replaces an operation that promises its answer by the one that does the work.
func (g *Gateway) inDirectForm(_ context.Context, x *Exchange) error {
	if err := g.narrow(x); err != nil {
		return err
	}
	if x.Operation.direct != nil {
		x.Operation = x.Operation.direct
	}
	return nil
}
