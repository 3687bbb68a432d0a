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

// TestWaitBehindOthers: whoever waits is not called with an empty page because many changes
// of others lie before his own.
func TestWaitBehindOthers(t *testing.T) {
	t.Parallel()
	var told crowded
	h := newLongFixture(t)
	told = crowded{Driver: h.store, ChangeTeller: h.store, pages: map[string]backend.ChangesPage{
		"begin": {Cursor: "between", More: true},
		"between": {Cursor: "end", Changes: []backend.RecordChange{{
			Resource: h.o.Offer.Model.Resource("order"), ID: 7, Kind: backend.RecordDeleted, At: h.clock.Now(),
		}}},
		"end": {Cursor: "end"},
	}}
	var err error
	h.o.Backend, err = backend.NewClient(told, h.o.Offer.Model, backend.Options{Timeout: time.Minute})
	require.NoError(t, err)
	h.o.Callbacks.FindUser = h.store.FindUser
	user, err := h.store.FindUser(t.Context(), "demo")
	require.NoError(t, err)
	run := func(after string, until time.Time) (string, error) {
		data, err := json.Marshal(storedWait{After: after, Until: until})
		require.NoError(t, err)
		var out bytes.Buffer
		_, err = h.runChanges(t.Context(), webhook.Job{ID: "j", Owner: webhook.Owner{Key: "all", User: user}, Work: webhook.Work{Kind: changesWork, Data: data}}, &out)
		return out.String(), err
	}
	later := h.clock.Now().Add(time.Hour)
	answer, err := run("begin", later)
	require.NoError(t, err)
	require.Contains(t, answer, `"id":7`)
	_, err = run("end", later)
	require.True(t, errors.As(err, new(webhook.Asleep)), "%v", err)
	answer, err = run("end", h.clock.Now())
	require.NoError(t, err)
	require.Contains(t, answer, `{"data":[],"cursor":"end","more":false`)
	answer, err = run("gone", later)
	require.NoError(t, err)
	require.Contains(t, answer, `"reason":"cursor_gone"`)
}

// TestAnyCursorIsJudged: one that is too long to be a cursor is gone, like any damaged one.
func TestAnyCursorIsJudged(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t)
	body := `{"webhook_url":"` + h.receiver + `","after":"` + strings.Repeat("x", 70_000) + `"}`
	refused(t, h.as("demo").ask("POST", "/changes", body), fault{410, "Cursor is gone, read everything again", mapping.CursorGone, ""})
	require.False(t, strings.Contains(h.as("demo").ask("GET", "/openapi.json?api_key="+keyAll, "").body, `"maxLength":2147483647`), "no bound that means nothing is described")
}
