package callbacks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook"
)

// cutOff loses its process, as it were, right after a commit: the work is
// stored, and whoever did it never hears of it.
type cutOff struct {
	*reference.Store
	stored chan struct{}
	once   *sync.Once
}

func (c cutOff) Write(ctx context.Context, f func(backend.Tx) error) error {
	err := c.Store.Write(ctx, f)
	c.once.Do(func() {
		close(c.stored)
		<-ctx.Done()
		err = ctx.Err()
	})
	return err
}

// onceChanges are what a second time would be told from the first.
var onceChanges = []struct{ method, body, gone string }{
	{"PUT", `{"name":"Changed","webhook_url":%q}`, ""},
	{"DELETE", "", "Field: id value: %d not found"},
}

// TestCallbackChangesHappenOnce stops the program between the commit of a
// long-running change and its result.
func TestCallbackChangesHappenOnce(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		for _, change := range onceChanges {
			h, options := rig.NewHooks(t, nil)
			options.DSN = dsn
			plain := rig.Start(t, rig.Options{DSN: dsn})
			token := plain.Login(rig.FullKey, "demo")
			contact := plain.Create(token, "contact", rig.NewContact)
			etag := plain.Call("GET", fmt.Sprintf("/contact/%d", contact), token, "").Header.Get("ETag")
			plain.Shutdown()

			options.Server = "  shutdown_timeout: 1s" // in which the job does not end
			options.Extra += "callbacks: [\"PUT /contact\", \"DELETE /contact\"]\n"
			driver := cutOff{stored: make(chan struct{}), once: new(sync.Once)}
			options.Wrap = func(d backend.Driver) backend.Driver {
				driver.Store = d.(*reference.Store)
				return driver
			}
			first := rig.Start(t, options)
			id := first.AskChange(h, first.Login(rig.HookedKey, "demo"), change.method, change.body, contact, etag)
			<-driver.stored
			first.Shutdown()
			j, _ := storedJob(t, dsn, id)
			require.Equal(t, webhook.Accepted, j.State, "there is no result yet")

			options.Wrap = nil
			second := rig.Start(t, options)
			second.RequireOnce(h, second.Login(rig.HookedKey, "demo"), id, contact, change.method, change.gone)
			second.Shutdown()
		}
	})
}

// Two jobs under one Idempotency-Key are done as one: the second waits for the
// first, and has its answer.
func TestCallbacksUnderOneKey(t *testing.T) {
	t.Parallel()
	dsn := rig.Engines[1].DSN(t)
	h, options := rig.NewHooks(t, nil)
	options.DSN = dsn
	options.Extra += "callbacks: [\"POST /order\"]\n"
	d := rig.Start(t, options)
	token := d.Login(rig.HookedKey, "demo")
	contact := d.Create(token, "contact", rig.NewContact)
	release := rig.Lock(t, dsn, fmt.Sprintf("SELECT FROM contact WHERE id = %d FOR UPDATE", contact))
	body := fmt.Sprintf(rig.NewOrder, contact, fmt.Sprintf(`,"reference":"twice","webhook_url":%q`, h.Address()))
	var ids []string
	for range 2 {
		id := d.Call("POST", "/order", token, body, "Idempotency-Key", "twice").Promise(t)
		reaches(t, dsn, id, webhook.Running)
		ids = append(ids, id)
	}
	release()
	var results []string
	for range ids {
		results = append(results, string(d.Answered(token, h.Next(t), 201).Body))
	}
	require.Equal(t, results[0], results[1])
	require.Len(t, d.List(token, "/order?reference=twice"), 1)
}

// TestETagAfterRestore changes a record in two ways, from the same backup: a
// client that knows one must not be taken for one that knows the other.
func TestETagAfterRestore(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		file := t.TempDir() + "/demo.zip"
		d := rig.Start(t, rig.Options{DSN: dsn})
		token := d.Login(rig.FullKey, "demo")
		path := fmt.Sprintf("/contact/%d", d.Create(token, "contact", rig.NewContact))
		code, _, errs := rig.CommandLine(t, dsn, "backup", "--client", "Demo Garage", "--out", file)
		require.Zero(t, code, errs)
		lost := d.Call("PUT", path, token, `{"name":"Lost"}`).Header.Get("ETag")
		d.Shutdown()

		empty := rig.Engines[0].Empty(t)
		code, _, errs = rig.CommandLine(t, empty, "migrate")
		require.Zero(t, code, errs)
		code, _, errs = rig.CommandLine(t, empty, "restore", "--client", "Demo Garage", file)
		require.Zero(t, code, errs)
		store, err := rig.OpenAdministration(empty)
		require.NoError(t, err)
		_, err = store.AddUser(t.Context(), reference.NewUser{Username: "demo", Password: "demo", Email: "demo@example.nl", Client: "Demo Garage"})
		require.NoError(t, err)
		require.NoError(t, store.Close())
		again := rig.Start(t, rig.Options{DSN: empty})
		token = again.Login(rig.FullKey, "demo")
		now := again.Call("PUT", path, token, `{"name":"Kept"}`).Header.Get("ETag")
		require.NotEqual(t, lost, now)
		again.Call("PUT", path, token, `{"name":"Overwritten"}`, "If-Match", lost).Refused(t, 412, "Record has been changed", "of the lost state")
		for _, fields := range []string{"", "?fields=id,name", "?fields=modified_at"} {
			a := again.Call("GET", path+fields, token, "")
			require.Equal(t, now, a.Header.Get("ETag"), "whatever fields are asked for")
			var body struct{ Data map[string]json.RawMessage }
			require.NoError(t, json.Unmarshal(a.Body, &body))
			_, shown := body.Data["modified_at"]
			require.Equal(t, !strings.Contains(fields, "name"), shown)
		}
	})
}
