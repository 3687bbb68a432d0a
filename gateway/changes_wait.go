package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

const (
	// changesWork waits for changes, and then answers as GET /changes does.
	changesWork = "changes"
	// maxWait is the longest wait, and the default, in seconds.
	maxWait = 86400
	// waitsPerClient is how many requests of a client of an api_key may wait at once.
	waitsPerClient = 20
	// exampleCursor is a cursor that no client has.
	exampleCursor = "c1_ZXhhbXBsZQ"
	// waitRetry is when a client that has waitsPerClient may ask again.
	waitRetry = time.Minute
)

// storedWait is a request for changes while it waits.
type storedWait struct {
	After, Resource string
	Until           time.Time
}

// waitRoute adds the long-running form of GET /changes.
func (g *Gateway) waitRoute(r *routes) {
	form := mapping.NewForm("changes",
		callbackField(),
		mapping.Field{Name: "after", Type: mapping.Varchar, Length: mapping.AnyLength, Required: true, Description: "The cursor after which changes are waited for.", Example: exampleCursor},
		mapping.Field{Name: "resource", Type: mapping.Varchar, Length: 1000, Description: "Only changes of these resources, separated by commas."},
		mapping.Field{Name: "wait", Type: mapping.Int4, Description: "For how many seconds at most, up to " + strconv.Itoa(maxWait) + ", which is a day and what holds where it is left out.", Example: "3600"},
	)
	g.carried(r, changesPath, "POST", &Operation{
		scopes: []mapping.Scope{mapping.OpCreate}, form: form, serve: g.waitForChanges,
		check: func(x *Exchange) mapping.Violations {
			if v := x.Body.CheckCreate(); v != nil {
				return v
			}
			_, _, v := x.wait()
			return append(v, x.takeCallback(g, x.Body.Record.Get(webhookURL))...)
		},
		about: about{
			name: "waitForChanges", summary: "Be called as soon as something has changed", module: changesModule,
			note: "The callback comes as soon as there is something after the cursor, or without anything when the wait is over. The result is the answer of GET /changes at that moment, for what the api_key and the user may see then. " +
				"A client of an api_key has at most " + strconv.Itoa(waitsPerClient) + " such requests waiting.",
			early: []mapping.Reason{mapping.ValidationFailed}, late: []mapping.Reason{mapping.CursorGone, mapping.TooManyRequests}, asksBackend: true,
			answers: answers{form: acceptForm},
		},
	})
	g.carried(r, changesPath, "DELETE", &Operation{
		scopes: []mapping.Scope{mapping.OpDelete}, serve: g.bounded(g.endWait),
		params: []param{named("id", "Of the request that waits, from the Location of its 202.", "").must()},
		about: about{
			name: "endWaitForChanges", summary: "Wait for changes no longer", module: changesModule,
			note:    "The request is given up without a callback, and another may wait in its place.",
			late:    []mapping.Reason{mapping.RecordNotFound},
			answers: answers{form: doneForm},
		},
	})
}

// endWait gives up a request that waits.
func (g *Gateway) endWait(ctx context.Context, x *Exchange) error {
	if err := g.o.Callbacks.Orchestrator.Withdraw(ctx, x.owner(), changesWork, x.Param("id")); err != nil {
		return err
	}
	x.answerDone()
	return nil
}

// wait reads the body of a request that waits for changes.
func (x *Exchange) wait() (q backend.ChangesQuery, seconds int64, v mapping.Violations) {
	rec := x.Body.Record
	q = backend.ChangesQuery{Client: x.user().Client, After: rec.Get("after").Text(), Limit: 1}
	if names := rec.Get("resource"); names.IsSet() {
		q.Resources, v = x.followableIn(names.Text())
	} else {
		q.Resources = x.followable()
	}
	seconds = maxWait
	if wait := rec.Get("wait"); wait.IsSet() {
		if seconds = wait.Int(); seconds < 0 || seconds > maxWait {
			v = append(v, Param{Name: "wait", Value: wait.String()}.invalid("0-"+strconv.Itoa(maxWait))...)
		}
	}
	return q, seconds, v
}

// waitForChanges promises to call, unless the cursor is gone.
func (g *Gateway) waitForChanges(ctx context.Context, x *Exchange) error {
	q, seconds, _ := x.wait()
	page, err := g.backend.Changes(ctx, q)
	if err != nil {
		return err
	}
	if len(page.Changes) == 0 && !page.More { // a newer cursor of the same place expires later
		q.After = page.Cursor
	}
	data, err := json.Marshal(storedWait{
		After: q.After, Resource: x.Body.Record.Get("resource").Text(), Until: g.o.Clock().Add(time.Duration(seconds) * time.Second),
	})
	if err != nil {
		return err
	}
	return g.accept(webhook.Work{Kind: changesWork, Data: data, Most: waitsPerClient})(ctx, x)
}

// runChanges answers a request that waits if there are changes, or if its time is over.
func (g *Gateway) runChanges(ctx context.Context, j webhook.Job, w io.Writer) (webhook.Content, error) {
	var stored storedWait
	if err := json.Unmarshal(j.Work.Data, &stored); err != nil {
		return webhook.Content{}, err
	}
	from, found := g.look(ctx, j, stored)
	if !found && g.o.Clock().Before(stored.Until) {
		return webhook.Content{}, webhook.Asleep{Until: stored.Until}
	}
	query := []Param{{Name: "after", Value: from}}
	if stored.Resource != "" {
		query = append(query, Param{Name: "resource", Value: stored.Resource})
	}
	rc, x := g.storedExchange(ctx, j, &storedRequest{Method: http.MethodGet, Path: changesPath, Query: encodeParams(query)})
	defer g.release(x)
	x.err = g.judgeAgain(ctx, x, j.Owner)
	if err := g.answerStored(rc, x); err != nil {
		return webhook.Content{}, passing(err)
	}
	return x.writeAnswer(w)
}

// judgeAgain judges whether the owner of a job may still be answered: the api_key, its
// allowlist and the user, as they are now.
func (g *Gateway) judgeAgain(ctx context.Context, x *Exchange, owner webhook.Owner) error {
	key := x.policy.Keys.Named(owner.Key, x.started)
	if key == nil {
		return mapping.Fail(mapping.TokenInvalid)
	}
	user, err := g.o.Callbacks.FindUser(ctx, owner.User.Username)
	switch {
	case errors.Is(err, auth.ErrUnknownUser):
		return mapping.Fail(mapping.TokenInvalid)
	case err != nil:
		return err
	case user.Blocked || user.External || user.Client.ID != owner.User.Client.ID:
		return mapping.Fail(mapping.TokenInvalid)
	}
	return refusal(permit(key, g.routes.endpoints[changesPath].list[http.MethodPost]), http.MethodPost, changesPath)
}

// look reports whether a request that waits is to be answered: because there are changes, or because
// it is refused. It starts where Ready has stopped, and returns the cursor to continue from: no
// change that concerns the client lies before it.
func (g *Gateway) look(ctx context.Context, j webhook.Job, stored storedWait) (from string, found bool) {
	_, x := g.storedExchange(ctx, j, &storedRequest{})
	defer g.release(x)
	if seen, _ := g.waits.Load().(map[string]string); seen[j.ID] != "" {
		stored.After = seen[j.ID]
	}
	q := backend.ChangesQuery{Client: j.Owner.User.Client, After: stored.After, Limit: 1, Resources: x.followable()}
	if stored.Resource != "" {
		var refused mapping.Violations
		if q.Resources, refused = x.followableIn(stored.Resource); refused != nil {
			return stored.After, true
		}
	}
	if len(q.Resources) == 0 {
		return stored.After, true
	}
	for {
		page, err := g.backend.Changes(ctx, q)
		switch {
		case err != nil:
			return q.After, mapping.Is(err, mapping.CursorGone)
		case len(page.Changes) > 0:
			return q.After, true
		case !page.More:
			return page.Cursor, false
		}
		q.After = page.Cursor
	}
}

// waits has the cursor that Ready has reached, by job: the one that a request began with may expire
// before its wait ends.
type waits struct{ atomic.Value }

// Ready returns those of the sleeping jobs that can be answered. It is not safe for concurrent use.
func (g *Gateway) Ready(ctx context.Context, asleep []webhook.Job) (ready []webhook.Job) {
	seen := map[string]string{}
	for _, j := range asleep {
		var stored storedWait
		if j.Work.Kind != changesWork || json.Unmarshal(j.Work.Data, &stored) != nil {
			continue
		}
		from, found := g.look(ctx, j, stored)
		if seen[j.ID] = from; found {
			ready = append(ready, j)
		}
	}
	g.waits.Store(seen)
	return ready
}
