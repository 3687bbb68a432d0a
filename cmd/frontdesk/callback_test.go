package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
)

// The api_keys of a desk with callbacks.
const (
	hookedKey = "77777777-7777-4777-8777-777777777777"
	backupKey = "66666666-6666-4666-8666-666666666666"
)

// The two secrets of hookedKey, as while they are rotated.
const rawSecret = "an older secret, byte for byte"

var encodedSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a key of thirty-two bytes, almost"))

// hooks is a client's HTTPS server, with a certificate of its own authority.
type hooks struct {
	*httptest.Server
	calls chan *http.Request // what it was called with
}

// newHooks answers 200 to everything, before that with judge where it is not nil.
func newHooks(t *testing.T, judge http.HandlerFunc) (h *hooks, options deskOptions) {
	t.Helper()
	h = &hooks{calls: make(chan *http.Request, 1024)}
	authority := webhooktest.NewAuthority(t)
	h.Server = authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if judge != nil {
			judge(w, r)
		}
		h.calls <- r
	}))
	options.extra = fmt.Sprintf("webhooks: {allow_hosts: [\"127.0.0.1\"], ports: [443, %d], ca_file: %q, folder: %q}\n",
		webhooktest.Port(t, h.Server), authority.File(t), filepath.Join(t.TempDir(), "results"))
	options.keys = fmt.Sprintf(`  - name: hooked
    key_sha256: ["%x"]
    allow: ["* /*"]
    webhook_secret: [%q, %q]
  - name: backups
    key_sha256: ["%x"]
    allow: ["POST /backup/owner"]
`, sha256.Sum256([]byte(hookedKey)), encodedSecret, rawSecret, sha256.Sum256([]byte(backupKey)))
	return h, options
}

// address is a webhook_url with a query of its own.
func (h *hooks) address() string { return h.URL + "/hook?b=2&a=%2F1" }

func (h *hooks) body() string { return fmt.Sprintf(`{"webhook_url":%q}`, h.address()) }

// next returns the next call, and holds it to the interface: a GET of the
// address with the id added, signed with both secrets.
func (h *hooks) next(t *testing.T) (id string) {
	t.Helper()
	var r *http.Request
	select {
	case r = <-h.calls:
	case <-time.After(patience):
		t.Fatal("nobody called")
	}
	require.Equal(t, "GET", r.Method)
	id, ok := strings.CutPrefix(r.RequestURI, "/hook?b=2&a=%2F1&id=")
	require.True(t, ok, r.RequestURI)
	require.Equal(t, id, r.Header.Get("webhook-id"))
	current, err := standardwebhooks.NewWebhook(encodedSecret)
	require.NoError(t, err)
	require.NoError(t, current.Verify(nil, r.Header))
	old, err := standardwebhooks.NewWebhookRaw([]byte(rawSecret))
	require.NoError(t, err)
	require.NoError(t, old.Verify(nil, r.Header))
	forged := r.Header.Clone()
	forged.Set("webhook-id", id+"x")
	require.Error(t, current.Verify(nil, forged))
	return id
}

var promised = regexp.MustCompile(`^/webservice_v2/webhook\?id=([a-z2-7]{26})$`)

// promise holds an answer to what a promise of work looks like.
func (a answer) promise(t testing.TB) (id string) {
	t.Helper()
	require.Equal(t, 202, a.Status, "%s", a.Body)
	require.JSONEq(t, `{"successCode":202}`, string(a.Body))
	require.Equal(t, "5", a.Header.Get("Retry-After"))
	match := promised.FindStringSubmatch(a.Header.Get("Location"))
	require.NotNil(t, match, "%s", a.Header.Get("Location"))
	return match[1]
}

// collect returns the address of a result that is ready.
func (d *desk) collect(token, id string) string {
	d.t.Helper()
	a := d.call("GET", "/webhook?id="+id, token, "")
	require.Equal(d.t, 200, a.Status, "%s", a.Body)
	require.Len(d.t, a.data(d.t), 1)
	address := a.data(d.t)["url"].(string)
	require.True(d.t, strings.HasPrefix(address, d.base+"/webhook/download?"), address)
	return address
}

// download gets an address without any token.
func (d *desk) download(address string, headers ...string) answer {
	d.t.Helper()
	a, err := d.try("GET", strings.TrimPrefix(address, d.base), "", "", headers...)
	require.NoError(d.t, err)
	return a
}

// refused holds an answer to a status and its words.
func (a answer) refused(t testing.TB, status int, message, what string) {
	t.Helper()
	require.Equal(t, status, a.Status, "%s: %s", what, a.Body)
	require.Equal(t, message, a.failure(t).Message, what)
}

// storedJob reads a job beside the desk.
func storedJob(t testing.TB, dsn, id string) (j webhook.Job, tries []webhook.Try) {
	t.Helper()
	onJobs(t, dsn, func(s *jobstore.Store) {
		var err error
		j, err = s.Get(t.Context(), id)
		require.NoError(t, err)
		tries, err = s.Journal(t.Context(), id)
		require.NoError(t, err)
	})
	return j, tries
}

func onJobs(t testing.TB, dsn string, f func(*jobstore.Store)) {
	t.Helper()
	store, err := openAdministration(dsn)
	require.NoError(t, err)
	jobs, err := jobstore.Open(t.Context(), store.Database())
	require.NoError(t, err)
	f(jobs)
	require.NoError(t, store.Close())
}

// reaches waits until a job is in a state.
func reaches(t testing.TB, dsn, id string, state webhook.State) {
	t.Helper()
	require.Eventually(t, func() bool {
		j, _ := storedJob(t, dsn, id)
		return j.State == state
	}, patience, 20*time.Millisecond, "%s", state)
}

func TestCallbackFlow(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		h, options := newHooks(t, nil)
		options.dsn = dsn
		d := startDesk(t, options)
		token := d.login(hookedKey, "demo")
		id := d.call("POST", "/backup/owner", token, h.body()).promise(t)
		require.Equal(t, id, h.next(t))
		reaches(t, dsn, id, webhook.CalledBack)

		d.call("GET", "/webhook", token, "").refused(t, 400, "These parameter(s): id are required", "no id")
		d.call("GET", "/webhook?id=", token, "").refused(t, 400, "These parameter(s): id are required", "empty id")
		d.call("GET", "/webhook?id=none", token, "").refused(t, 404, "Field: id value: none not found", "unknown id")
		d.call("GET", "/webhook?id="+id, "", "").refused(t, 401, "Not authorized", "no token")
		d.call("GET", "/webhook?id="+id, d.login(hookedKey, "other"), "").refused(t, 404, "Field: id value: "+id+" not found", "another client")

		address := d.collect(token, id)
		job, tries := storedJob(t, dsn, id)
		require.Equal(t, webhook.Collected, job.State)
		require.Len(t, tries, 1)
		require.Equal(t, 200, tries[0].Status)
		whole := d.download(address)
		require.Equal(t, 200, whole.Status, "%s", whole.Body)
		sum := sha256.Sum256(whole.Body)
		require.Equal(t, job.Result.SHA256, hex.EncodeToString(sum[:]))
		require.Equal(t, `"`+job.Result.SHA256+`"`, whole.Header.Get("ETag"))
		require.Equal(t, "application/zip", whole.Header.Get("Content-Type"))
		require.Equal(t, "bytes", whole.Header.Get("Accept-Ranges"))
		require.Equal(t, strconv.Itoa(len(whole.Body)), whole.Header.Get("Content-Length"))
		require.Regexp(t, `^attachment; filename="backup-\d{8}-\d{6}\.zip"$`, whole.Header.Get("Content-Disposition"))
		d.requireBackup(token, whole.Body)
		d.ranges(address, whole)
		d.forgeries(address, id)

		// What was signed two hours ago is no longer valid.
		onJobs(t, dsn, func(s *jobstore.Store) {
			for age, want := range map[time.Duration]int{0: 200, webhook.LinkValidity - time.Minute: 200, webhook.LinkValidity + time.Second: 404} {
				links := webhook.NewLinks(s, func() time.Time { return time.Now().Add(-age) })
				query, err := links.Sign(t.Context(), id)
				require.NoError(t, err)
				require.Equal(t, want, d.download("/webhook/download?"+query).Status, "%s old", age)
			}
			query, err := webhook.NewLinks(s, time.Now).Sign(t.Context(), "none")
			require.NoError(t, err)
			d.download("/webhook/download?"+query).refused(t, 404, "Field: id value: none not found", "signed, but no job")
		})
		require.Empty(t, h.calls, "called once")
		for _, secret := range []string{encodedSecret, rawSecret, token, address[strings.Index(address, "signature="):], "%2F1"} {
			require.NotContains(t, d.log.String(), secret)
		}
	})
}

// requireBackup opens a backup: its parts are what the manifest says, and the
// orders are those that the interface lists.
func (d *desk) requireBackup(token string, data []byte) {
	t := d.t
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, f := range archive.File {
		r, err := f.Open()
		require.NoError(t, err)
		files[f.Name], err = io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
	}
	var m backend.Manifest
	require.NoError(t, json.Unmarshal(files["manifest.json"], &m))
	require.Len(t, files, len(m.Parts)+1)
	for _, p := range m.Parts {
		part := files[p.Resource+".ndjson"]
		sum := sha256.Sum256(part)
		require.Equal(t, p.SHA256, hex.EncodeToString(sum[:]), p.Resource)
		require.EqualValues(t, p.Bytes, len(part))
		require.EqualValues(t, p.Count, bytes.Count(part, []byte{'\n'}))
	}
	ids := map[float64]bool{}
	for lines := bufio.NewScanner(bytes.NewReader(files["order.ndjson"])); lines.Scan(); {
		var order map[string]any
		require.NoError(t, json.Unmarshal(lines.Bytes(), &order))
		ids[order["id"].(float64)] = true
	}
	listed := d.list(token, "/order?page_size=1000")
	require.Len(t, ids, len(listed))
	for _, order := range listed {
		require.True(t, ids[order["id"].(float64)])
	}
}

// ranges downloads in parts.
func (d *desk) ranges(address string, whole answer) {
	t, size, etag := d.t, len(whole.Body), whole.Header.Get("ETag")
	t.Helper()
	for _, c := range []struct {
		header   []string
		from, to int // -1 for the whole
	}{
		{[]string{"Range", "bytes=0-99"}, 0, 100},
		{[]string{"Range", "bytes=100-"}, 100, size},
		{[]string{"Range", "bytes=-10"}, size - 10, size},
		{[]string{"Range", fmt.Sprintf("bytes=%d-%d", size-1, size+100)}, size - 1, size},
		{[]string{"Range", fmt.Sprintf("bytes=-%d", size+1)}, 0, size},
		{[]string{"Range", "bytes=5-9", "If-Range", etag}, 5, 10},
		{[]string{"Range", "bytes=5-9", "If-Range", `"another"`}, -1, 0},
		{[]string{"Range", "bytes=5-9", "If-Range", "W/" + etag}, -1, 0},
		{[]string{"Range", "lines=5-9"}, -1, 0},
		{[]string{"Range", "bytes=9-5"}, -1, 0},
		{[]string{"Range", "bytes=0-1,5-6"}, -1, 0},
		{[]string{"Range", "bytes=x-"}, -1, 0},
	} {
		a := d.download(address, c.header...)
		require.Equal(t, etag, a.Header.Get("ETag"))
		if c.from < 0 {
			require.Equal(t, 200, a.Status, "%v", c.header)
			require.True(t, bytes.Equal(whole.Body, a.Body), "%v", c.header)
			continue
		}
		require.Equal(t, 206, a.Status, "%v", c.header)
		require.Equal(t, fmt.Sprintf("bytes %d-%d/%d", c.from, c.to-1, size), a.Header.Get("Content-Range"))
		require.True(t, bytes.Equal(whole.Body[c.from:c.to], a.Body), "%v", c.header)
	}
	for _, beyond := range []string{fmt.Sprintf("bytes=%d-", size), fmt.Sprintf("bytes=%d-%d", size+5, size+9), "bytes=-0"} {
		a := d.download(address, "Range", beyond)
		require.Equal(t, 416, a.Status, beyond)
		require.Equal(t, fmt.Sprintf("bytes */%d", size), a.Header.Get("Content-Range"))
		require.Empty(t, a.Body)
	}
	// A download that broke off is taken up where it ended.
	var got []byte
	for len(got) < size {
		a := d.download(address, "Range", fmt.Sprintf("bytes=%d-%d", len(got), len(got)+size/3), "If-Range", etag)
		require.Equal(t, 206, a.Status)
		got = append(got, a.Body...)
	}
	require.True(t, bytes.Equal(whole.Body, got))
}

// forgeries changes every character of an address's query. A parameter that
// there is not is refused as such, everything else like an unknown id.
func (d *desk) forgeries(address, id string) {
	t := d.t
	t.Helper()
	path, query, _ := strings.Cut(strings.TrimPrefix(address, d.base), "?")
	sound := map[string]bool{"id": true, "expires": true, "key": true, "signature": true}
	for i, c := range []byte(query) {
		for _, other := range []byte{c ^ 1, c ^ 0x20, 'a'} {
			if other == c || !(other >= '0' && other <= '9' || other|0x20 >= 'a' && other|0x20 <= 'z') {
				continue
			}
			forged := query[:i] + string(other) + query[i+1:]
			want := 404
			for part := range strings.SplitSeq(forged, "&") {
				if name, _, _ := strings.Cut(part, "="); !sound[name] {
					want = 400
				}
			}
			a := d.download(path + "?" + forged)
			require.Equal(t, want, a.Status, "%s", forged)
		}
	}
	for _, forged := range []string{"", "id=" + id, query[:len(query)-1], query + "0", query + "&", "&" + query, query + "%", strings.Replace(query, "id=", "id=%41", 1)} {
		require.Equal(t, 404, d.download(path+"?"+forged).Status, "%s", forged)
	}
	require.Equal(t, 200, d.download(address).Status)
}

// gated has exports wait until it is opened.
type gated struct {
	*reference.Store
	open <-chan struct{}
}

func (g gated) Export(ctx context.Context, client auth.Client, w io.Writer) (backend.Manifest, error) {
	select {
	case <-g.open:
	case <-ctx.Done():
		return backend.Manifest{}, ctx.Err()
	}
	return g.Store.Export(ctx, client, w)
}

func TestCallbackNotReady(t *testing.T) {
	onEngines(t, func(t *testing.T, dsn string) {
		h, options := newHooks(t, nil)
		open := make(chan struct{})
		options.dsn, options.wrap = dsn, func(driver backend.Driver) backend.Driver {
			return gated{driver.(*reference.Store), open}
		}
		d := startDesk(t, options)
		token := d.login(hookedKey, "demo")
		id := d.call("POST", "/backup/owner", token, h.body()).promise(t)
		for range 2 {
			a := d.call("GET", "/webhook?id="+id, token, "")
			require.Equal(t, 202, a.Status)
			require.JSONEq(t, `{"successCode":202}`, string(a.Body))
			require.Equal(t, "5", a.Header.Get("Retry-After"))
		}
		d.call("GET", "/webhook?id="+id, d.login(fullKey, "other"), "").refused(t, 404, "Field: id value: "+id+" not found", "another client")
		require.Empty(t, h.calls)
		close(open)
		require.Equal(t, id, h.next(t))
		// Another api_key of the same client may collect.
		require.Equal(t, 200, d.download(d.collect(d.login(fullKey, "demo"), id)).Status)
	})
}

// TestCallbackFailed provokes work that fails: the client is called, and learns
// of it when it asks.
func TestCallbackFailed(t *testing.T) {
	h, options := newHooks(t, nil)
	options.dsn = engines[0].dsn(t)
	options.wrap = func(driver backend.Driver) backend.Driver { return failing{driver.(*reference.Store)} }
	d := startDesk(t, options)
	token := d.login(hookedKey, "demo")
	id := d.call("POST", "/backup/owner", token, h.body()).promise(t)
	require.Equal(t, id, h.next(t))
	d.call("GET", "/webhook?id="+id, token, "").refused(t, 500, "Internal server error", "failed")
	j, _ := storedJob(t, options.dsn, id)
	require.Equal(t, "the disk is on fire", j.Failure)
}

type failing struct{ *reference.Store }

func (failing) Export(context.Context, auth.Client, io.Writer) (backend.Manifest, error) {
	return backend.Manifest{}, fmt.Errorf("the disk is on fire")
}
