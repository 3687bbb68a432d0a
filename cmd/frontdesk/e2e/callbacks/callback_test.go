package callbacks

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// storedJob reads a job beside the desk.
func storedJob(t testing.TB, dsn, id string) (j webhook.Job, tries []webhook.Try) {
	t.Helper()
	rig.OnJobs(t, dsn, func(s *jobstore.Store) {
		j = must.Have(s.Get(t.Context(), id))(t)
		tries = must.Have(s.Journal(t.Context(), id))(t)
	})
	return j, tries
}

// reaches waits until a job is in a state.
func reaches(t testing.TB, dsn, id string, state webhook.State) {
	t.Helper()
	await.True(t, func() bool {
		j, _ := storedJob(t, dsn, id)
		return j.State == state
	}, "%s", state)
}

func TestCallbackFlow(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		h, options := rig.NewHooks(t, nil)
		options.DSN = dsn
		d := rig.Start(t, options)
		token := d.Login(rig.HookedKey, "demo")
		id := d.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
		require.Equal(t, id, h.Next(t))
		reaches(t, dsn, id, webhook.CalledBack)

		refuses(d, h, "flow", id)

		address := d.Collect(token, id)
		job, tries := storedJob(t, dsn, id)
		require.Equal(t, webhook.Collected, job.State)
		require.Len(t, tries, 1)
		require.Equal(t, 200, tries[0].Status)
		whole := d.Download(address)
		require.Equal(t, 200, whole.Status, "%s", whole.Body)
		sum := sha256.Sum256(whole.Body)
		require.Equal(t, job.Result.SHA256, hex.EncodeToString(sum[:]))
		require.Equal(t, `"`+job.Result.SHA256+`"`, whole.Header.Get("ETag"))
		require.Equal(t, "application/zip", whole.Header.Get("Content-Type"))
		require.Equal(t, "bytes", whole.Header.Get("Accept-Ranges"))
		require.Equal(t, strconv.Itoa(len(whole.Body)), whole.Header.Get("Content-Length"))
		require.Regexp(t, `^attachment; filename="backup-\d{8}-\d{6}\.zip"$`, whole.Header.Get("Content-Disposition"))
		d.RequireBackup(token, whole.Body)
		d.Ranges(address, whole)
		for forged, want := range map[string]int{
			address: 200, address[:len(address)-1]: 404, address + "0": 404, address + "&": 404, strings.Replace(address, "id=", "id=%41", 1): 404,
			strings.Replace(address, "expires=", "expired=", 1): 400, address[:strings.IndexByte(address, '?')] + "?id=" + id: 404,
		} {
			require.Equal(t, want, d.Download(forged).Status, forged)
		}

		// What was signed two hours ago is no longer valid.
		rig.OnJobs(t, dsn, func(s *jobstore.Store) {
			for age, want := range map[time.Duration]int{0: 200, webhook.LinkValidity - time.Minute: 200, webhook.LinkValidity + time.Second: 404} {
				links := webhook.NewLinks(s, func() time.Time { return time.Now().Add(-age) }, zap.NewNop())
				query := must.Have(links.Sign(t.Context(), id))(t)
				require.Equal(t, want, d.Download("/webhook/download?"+query).Status, "%s old", age)
			}
			query := must.Have(webhook.NewLinks(s, time.Now, zap.NewNop()).Sign(t.Context(), "none"))(t)
			d.Download("/webhook/download?"+query).Refused(t, 404, "Field: id value: none not found", "signed, but no job")
		})
		require.Empty(t, h.Calls, "called once")
		for _, secret := range []string{rig.EncodedSecret, rig.RawSecret, token, address[strings.Index(address, "signature="):], "%2F1"} {
			require.NotContains(t, d.Log.String(), secret)
		}
	})
}

// exporting does something else first where a backup is made, which may fail.
type exporting struct {
	*reference.Store
	first func(ctx context.Context) error
}

func (e exporting) Export(ctx context.Context, client auth.Client, w io.Writer) (backend.Manifest, error) {
	if err := e.first(ctx); err != nil {
		return backend.Manifest{}, err
	}
	return e.Store.Export(ctx, client, w)
}

// before has a desk do that before each export.
func before(first func(ctx context.Context) error) func(backend.Driver) backend.Driver {
	return func(d backend.Driver) backend.Driver { return exporting{d.(*reference.Store), first} }
}

func TestCallbackNotReady(t *testing.T) {
	t.Parallel()
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		h, options := rig.NewHooks(t, nil)
		open := make(chan struct{})
		options.DSN, options.Wrap = dsn, before(func(ctx context.Context) error {
			select {
			case <-open:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		d := rig.Start(t, options)
		token := d.Login(rig.HookedKey, "demo")
		id := d.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
		for range 2 {
			a := d.Gets(202, "GET", "/webhook?id="+id, token, "")
			require.JSONEq(t, `{"successCode":202}`, string(a.Body))
			require.Equal(t, "5", a.Header.Get("Retry-After"))
		}
		d.Call("GET", "/webhook?id="+id, d.Login(rig.FullKey, "other"), "").Refused(t, 404, "Field: id value: "+id+" not found", "another client")
		require.Empty(t, h.Calls)
		close(open)
		require.Equal(t, id, h.Next(t))
		// Another api_key of the same client may collect.
		require.Equal(t, 200, d.Download(d.Collect(d.Login(rig.FullKey, "demo"), id)).Status)
	})
}

// TestCallbackFailed provokes work that fails: the client is called, and learns
// of it when it asks.
func TestCallbackFailed(t *testing.T) {
	t.Parallel()
	h, options := rig.NewHooks(t, nil)
	options.DSN = rig.Engines[0].DSN(t)
	options.Wrap = before(func(context.Context) error { return fmt.Errorf("%w: the disk is on fire", backend.ErrUnexpected) })
	d := rig.Start(t, options)
	token := d.Login(rig.HookedKey, "demo")
	id := d.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
	require.Equal(t, id, h.Next(t))
	d.Call("GET", "/webhook?id="+id, token, "").Refused(t, 500, "Internal server error", "failed")
	j, _ := storedJob(t, options.DSN, id)
	require.Contains(t, j.Failure, "the disk is on fire")
}
