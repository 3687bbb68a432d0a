package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/gateway/webhook"
	"frontdesk/mapping"
)

// crowded has pages of changes that are all of others, before what is told.
type crowded struct {
	backend.Driver
	backend.ChangeTeller
	pages map[string]backend.ChangesPage // by the cursor before them
}

func (c crowded) Changes(_ context.Context, q backend.ChangesQuery) (backend.ChangesPage, error) {
	page, there := c.pages[q.After]
	if !there {
		return page, mapping.Fail(mapping.CursorGone)
	}
	return page, nil
}

// waiting has waits for changes that a backend tells in pages, by the cursor before them.
func waiting(t *testing.T, pages map[string]backend.ChangesPage) (h *longFixture, job func(after string, until time.Time) webhook.Job, run func(webhook.Job) (string, error)) {
	t.Helper()
	h = newLongFixture(t)
	onDriver(func(f *fixture) backend.Driver { return crowded{f.store, f.store, pages} })(h.fixture, &h.o)
	h.o.Callbacks.FindUser = h.store.FindUser
	user, err := h.store.FindUser(t.Context(), "demo")
	require.NoError(t, err)
	job = func(after string, until time.Time) webhook.Job {
		data, err := json.Marshal(storedWait{After: after, Until: until})
		require.NoError(t, err)
		return webhook.Job{ID: "j", Owner: webhook.Owner{Key: "all", User: user}, Work: webhook.Work{Kind: changesWork, Data: data}}
	}
	return h, job, func(j webhook.Job) (string, error) {
		var out bytes.Buffer
		_, err := h.runChanges(t.Context(), j, &out)
		return out.String(), err
	}
}

// deleted is a change.
func (f *longFixture) deleted(id int32) []backend.RecordChange {
	return []backend.RecordChange{{Resource: f.o.Offer.Model.Resource("order"), ID: id, Kind: backend.RecordDeleted, At: f.clock.Now()}}
}

// TestWaitBehindOthers: whoever waits is not called with an empty page because many changes
// of others lie before his own.
func TestWaitBehindOthers(t *testing.T) {
	t.Parallel()
	pages := map[string]backend.ChangesPage{"begin": {Cursor: "between", More: true}, "end": {Cursor: "end"}}
	h, job, run := waiting(t, pages)
	pages["between"] = backend.ChangesPage{Cursor: "end", Changes: h.deleted(7)}
	later := h.clock.Now().Add(time.Hour)
	answer, err := run(job("begin", later))
	require.NoError(t, err)
	require.Contains(t, answer, `"id":7`)
	_, err = run(job("end", later))
	require.True(t, errors.As(err, new(webhook.Asleep)), "%v", err)
	answer, err = run(job("end", h.clock.Now()))
	require.NoError(t, err)
	require.Contains(t, answer, `{"data":[],"cursor":"end","more":false`)
	answer, err = run(job("gone", later))
	require.NoError(t, err)
	require.Contains(t, answer, `"reason":"cursor_gone"`)
}

// TestWaitLongerThanACursorIsGood: a wait goes on from what was looked at last, so it is answered
// also when the cursor that it began with is gone.
func TestWaitLongerThanACursorIsGood(t *testing.T) {
	t.Parallel()
	pages := map[string]backend.ChangesPage{"old": {Cursor: "fresh"}, "fresh": {Cursor: "fresh"}}
	h, job, run := waiting(t, pages)
	j, over := job("old", h.clock.Now().Add(time.Hour)), job("old", h.clock.Now())
	require.Empty(t, h.Ready(t.Context(), []webhook.Job{j}))
	delete(pages, "old")
	answer, err := run(over)
	require.NoError(t, err)
	require.Contains(t, answer, `{"data":[],"cursor":"fresh","more":false`)
	pages["fresh"] = backend.ChangesPage{Cursor: "end", Changes: h.deleted(7)}
	require.Len(t, h.Ready(t.Context(), []webhook.Job{j}), 1)
	answer, err = run(j)
	require.NoError(t, err)
	require.Contains(t, answer, `"id":7`)
}

// TestAnyCursorIsJudged: one that is too long to be a cursor is gone, like any damaged one.
func TestAnyCursorIsJudged(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t)
	body := `{"webhook_url":"` + h.receiver + `","after":"` + strings.Repeat("x", 70_000) + `"}`
	refused(t, h.as("demo").ask("POST", "/changes", body), fault{410, "Cursor is gone, read everything again", mapping.CursorGone, ""})
	require.False(t, strings.Contains(h.as("demo").ask("GET", "/openapi.json?api_key="+keyAll, "").body, `"maxLength":2147483647`), "no bound that means nothing is described")
}
