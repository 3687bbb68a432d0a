package callbacks

import (
	"context"
	"fmt"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/webhook"
)

// cutOff loses its process, as it were, right after the next commit once it is armed: the work is
// stored, and whoever did it never hears of it.
type cutOff struct {
	*reference.Store
	stored chan struct{}
	armed  *atomic.Bool
}

func (c cutOff) Write(ctx context.Context, f func(backend.Tx) error) error {
	err := c.Store.Write(ctx, f)
	if c.armed.CompareAndSwap(true, false) {
		close(c.stored)
		<-ctx.Done()
		err = ctx.Err()
	}
	return err
}

// TestCallbackChangesHappenOnce stops the program between the commit of a
// long-running change, which a second time would be refused, and its result.
func TestCallbackChangesHappenOnce(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		h, options := rig.NewHooks(t, nil)
		options.DSN = dsn
		options.Server = "  shutdown_timeout: 1s" // in which the job does not end
		options.Extra += "callbacks: [\"PUT /contact\", \"DELETE /contact\"]\n"
		for _, method := range []string{"PUT", "DELETE"} {
			stored, armed := make(chan struct{}), new(atomic.Bool)
			options.Wrap = func(d backend.Driver) backend.Driver { return cutOff{d.(*reference.Store), stored, armed} }
			first := rig.Start(t, options)
			token := first.Login(rig.HookedKey, "demo")
			path := fmt.Sprintf("/contact/%d", first.Create(token, "contact", rig.NewContact))
			etag := first.Call("GET", path, token, "").Header.Get("ETag")
			ask, body := path, fmt.Sprintf(`{"name":"Changed","webhook_url":%q}`, h.Address())
			if method == "DELETE" {
				ask, body = path+"?webhook_url="+url.QueryEscape(h.Address()), ""
			}
			armed.Store(true)
			id := first.Call(method, ask, token, body, "If-Match", etag).Promise(t)
			<-stored
			first.Shutdown()
			j, _ := storedJob(t, dsn, id)
			require.Equal(t, webhook.Accepted, j.State, "there is no result yet")

			options.Wrap = nil
			second := rig.Start(t, options)
			require.Equal(t, id, h.Next(t))
			token = second.Login(rig.HookedKey, "demo")
			file, now := second.Answered(token, id, 200), second.Call("GET", path, token, "")
			if method == "DELETE" {
				require.JSONEq(t, `{"successCode":200}`, string(file.Body))
				require.Equal(t, 404, now.Status)
			} else {
				require.Equal(t, "Changed", now.Data(t)["name"])
				require.Equal(t, string(now.Body), string(file.Body), "the first answer, and nothing has changed since")
			}
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
