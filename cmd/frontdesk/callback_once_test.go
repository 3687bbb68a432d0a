package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// cutOff loses its process, as it were, right after a commit: the work is
// stored, and whoever did it never hears of it.
type cutOff struct {
	*reference.Store
	stored chan struct{}
	once   *sync.Once
}

func (c cutOff) InTx(ctx context.Context, f func(backend.Driver) error) error {
	err := c.Store.InTx(ctx, f)
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

// askChange asks for a change of a contact that must be as etag says.
func (d *desk) askChange(h *hooks, token, method, body string, contact int, etag string) (id string) {
	d.t.Helper()
	path := fmt.Sprintf("/contact/%d", contact)
	if body == "" {
		path += "?webhook_url=" + url.QueryEscape(h.address())
	} else {
		body = fmt.Sprintf(body, h.address())
	}
	return d.call(method, path, token, body, "If-Match", etag).promise(d.t)
}

// requireOnce holds a change that was begun twice to one effect and one result.
func (d *desk) requireOnce(h *hooks, token, id string, contact int, method, gone string) {
	t := d.t
	t.Helper()
	require.Equal(t, id, h.next(t.(*testing.T)))
	file := d.download(d.collect(token, id))
	require.Equal(t, `attachment; filename="answer-200.json"`, file.Header.Get("Content-Disposition"), "%s", file.Body)
	now := d.call("GET", fmt.Sprintf("/contact/%d", contact), token, "")
	if gone != "" {
		require.JSONEq(t, `{"successCode":200}`, string(file.Body))
		now.refused(t, 404, fmt.Sprintf(gone, contact), method)
		return
	}
	require.Equal(t, "Changed", now.data(t)["name"])
	require.Equal(t, string(now.Body), string(file.Body), "the first answer, and nothing has changed since")
}

// TestCallbackChangesHappenOnce stops the program between the commit of a
// long-running change and its result.
func TestCallbackChangesHappenOnce(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		for _, change := range onceChanges {
			h, options := newHooks(t, nil)
			options.dsn = dsn
			plain := startDesk(t, deskOptions{dsn: dsn})
			token := plain.login(fullKey, "demo")
			contact := plain.create(token, "contact", newContact)
			etag := plain.call("GET", fmt.Sprintf("/contact/%d", contact), token, "").Header.Get("ETag")
			plain.shutdown()

			options.server = "  shutdown_timeout: 1s" // in which the job does not end
			options.extra += "callbacks: [\"PUT /contact\", \"DELETE /contact\"]\n"
			driver := cutOff{stored: make(chan struct{}), once: new(sync.Once)}
			options.wrap = func(d backend.Driver) backend.Driver {
				driver.Store = d.(*reference.Store)
				return driver
			}
			first := startDesk(t, options)
			id := first.askChange(h, first.login(hookedKey, "demo"), change.method, change.body, contact, etag)
			<-driver.stored
			first.shutdown()
			j, _ := storedJob(t, dsn, id)
			require.Equal(t, webhook.Accepted, j.State, "there is no result yet")

			options.wrap = nil
			second := startDesk(t, options)
			second.requireOnce(h, second.login(hookedKey, "demo"), id, contact, change.method, change.gone)
			second.shutdown()
		}
	})
}

// TestCallbackKillAfterCommit kills the program with kill -9 at that moment,
// which locks of PostgreSQL hold on to.
func TestCallbackKillAfterCommit(t *testing.T) {
	dsn := engines[1].dsn(t)
	for _, change := range onceChanges {
		h, options := newHooks(t, nil)
		options.dsn = dsn
		options.extra += "callbacks: [\"PUT /contact\", \"DELETE /contact\"]\n"
		c := startChild(t, options)
		token := c.login(hookedKey, "demo")
		contact := c.create(token, "contact", newContact)
		etag := c.call("GET", fmt.Sprintf("/contact/%d", contact), token, "").Header.Get("ETag")

		record := lockRow(t, dsn, "contact", contact)
		id := c.askChange(h, token, change.method, change.body, contact, etag)
		reaches(t, dsn, id, webhook.Running)
		job := lockRow(t, dsn, "callback_job", id) // so that its result stays unknown
		record()
		require.Eventually(t, func() bool {
			a := c.call("GET", fmt.Sprintf("/contact/%d", contact), token, "")
			return a.Status == 404 || a.data(t)["name"] == "Changed"
		}, patience, 10*time.Millisecond, "the change is stored")
		c.kill()
		job()
		j, _ := storedJob(t, dsn, id)
		require.Equal(t, webhook.Running, j.State)
		onJobs(t, dsn, func(s *jobstore.Store) { require.NoError(t, s.Release(t.Context())) }) // or its lease would have to end

		again := startChild(t, options)
		again.requireOnce(h, again.login(hookedKey, "demo"), id, contact, change.method, change.gone)
		again.kill()
	}
}

// lockRow locks a row of a table until it is released.
func lockRow(t *testing.T, dsn, table string, id any) (release func()) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	conn, err := pgx.Connect(ctx, dsn)
	require.NoError(t, err)
	tx, err := conn.Begin(ctx)
	require.NoError(t, err)
	tag, err := tx.Exec(ctx, `SELECT id FROM `+pgx.Identifier{table}.Sanitize()+` WHERE id = $1 FOR UPDATE`, id)
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
	return func() {
		require.NoError(t, tx.Rollback(ctx))
		require.NoError(t, conn.Close(ctx))
		cancel()
	}
}

// Two jobs under one Idempotency-Key are done as one: the second waits for the
// first, and has its answer.
func TestCallbacksUnderOneKey(t *testing.T) {
	dsn := engines[1].dsn(t)
	h, options := newHooks(t, nil)
	options.dsn = dsn
	options.extra += "callbacks: [\"POST /order\"]\n"
	d := startDesk(t, options)
	token := d.login(hookedKey, "demo")
	contact := d.create(token, "contact", newContact)
	record := lockRow(t, dsn, "contact", contact)
	body := fmt.Sprintf(newOrder, contact, fmt.Sprintf(`,"reference":"twice","webhook_url":%q`, h.address()))
	var ids []string
	for range 2 {
		id := d.call("POST", "/order", token, body, "Idempotency-Key", "twice").promise(t)
		reaches(t, dsn, id, webhook.Running)
		ids = append(ids, id)
	}
	record()
	var results []string
	for range ids {
		file := d.download(d.collect(token, h.next(t)))
		require.Equal(t, `attachment; filename="answer-201.json"`, file.Header.Get("Content-Disposition"), "%s", file.Body)
		results = append(results, string(file.Body))
	}
	require.Equal(t, results[0], results[1])
	require.Len(t, d.list(token, "/order?reference=twice"), 1)
}

// TestETagAfterRestore changes a record in two ways, from the same backup: a
// client that knows one must not be taken for one that knows the other.
func TestETagAfterRestore(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		file := t.TempDir() + "/demo.zip"
		d := startDesk(t, deskOptions{dsn: dsn})
		token := d.login(fullKey, "demo")
		path := fmt.Sprintf("/contact/%d", d.create(token, "contact", newContact))
		code, _, errs := commandLine(t, dsn, "backup", "--client", "Demo Garage", "--out", file)
		require.Zero(t, code, errs)
		lost := d.call("PUT", path, token, `{"name":"Lost"}`).Header.Get("ETag")
		d.shutdown()

		empty := engines[0].empty(t)
		code, _, errs = commandLine(t, empty, "restore", "--client", "Demo Garage", file)
		require.Zero(t, code, errs)
		store, err := openAdministration(empty)
		require.NoError(t, err)
		_, err = store.AddUser(t.Context(), reference.NewUser{Username: "demo", Password: "demo", Email: "demo@example.nl", Client: "Demo Garage"})
		require.NoError(t, err)
		require.NoError(t, store.Close())
		again := startDesk(t, deskOptions{dsn: empty})
		token = again.login(fullKey, "demo")
		now := again.call("PUT", path, token, `{"name":"Kept"}`).Header.Get("ETag")
		require.NotEqual(t, lost, now)
		again.call("PUT", path, token, `{"name":"Overwritten"}`, "If-Match", lost).refused(t, 412, "Record has been changed", "of the lost state")
		for _, fields := range []string{"", "?fields=id,name", "?fields=modified_at"} {
			a := again.call("GET", path+fields, token, "")
			require.Equal(t, now, a.Header.Get("ETag"), "whatever fields are asked for")
			var body struct{ Data map[string]json.RawMessage }
			require.NoError(t, json.Unmarshal(a.Body, &body))
			_, shown := body.Data["modified_at"]
			require.Equal(t, !strings.Contains(fields, "name"), shown)
		}
	})
}
