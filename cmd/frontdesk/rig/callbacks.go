package rig

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
)

// The api_keys of a desk with callbacks.
const (
	HookedKey = "77777777-7777-4777-8777-777777777777"
	BackupKey = "66666666-6666-4666-8666-666666666666"
)

// RawSecret is the older of the two secrets of HookedKey, which are being rotated.
const RawSecret = "an older secret, byte for byte"

// EncodedSecret is the newer one.
var EncodedSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte("a key of thirty-two bytes, almost"))

// Hooks is a client's HTTPS server, with a certificate of its own authority.
type Hooks struct {
	*httptest.Server
	Calls chan *http.Request // what it was called with
}

// NewHooks answers 200 to everything, before that with judge where it is not nil.
func NewHooks(t *testing.T, judge http.HandlerFunc) (h *Hooks, options Options) {
	t.Helper()
	h = &Hooks{Calls: make(chan *http.Request, 1024)}
	authority := webhooktest.NewAuthority(t)
	h.Server = authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if judge != nil {
			judge(w, r)
		}
		h.Calls <- r
	}))
	options.Extra = fmt.Sprintf("webhooks: {allow_hosts: [\"127.0.0.1\"], ports: [443, %d], ca_file: %q}\n",
		webhooktest.Port(t, h.Server), authority.File(t))
	options.Keys = fmt.Sprintf(`  - name: hooked
    key_sha256: ["%x"]
    allow: ["* /*"]
    webhook_secret: [%q, %q]
  - name: backups
    key_sha256: ["%x"]
    allow: ["POST /backup/owner"]
`, sha256.Sum256([]byte(HookedKey)), EncodedSecret, RawSecret, sha256.Sum256([]byte(BackupKey)))
	return h, options
}

// Address is a webhook_url with a query of its own.
func (h *Hooks) Address() string { return h.URL + "/hook?b=2&a=%2F1" }

// Body is that of a request whose callback these hooks hear.
func (h *Hooks) Body() string { return fmt.Sprintf(`{"webhook_url":%q}`, h.Address()) }

// Next returns the next call, and holds it to the interface: a GET of the
// address with the id added, signed with both secrets.
func (h *Hooks) Next(t *testing.T) (id string) {
	t.Helper()
	r := <-h.Calls
	require.Equal(t, "GET", r.Method)
	id, ok := strings.CutPrefix(r.RequestURI, "/hook?b=2&a=%2F1&id=")
	require.True(t, ok, r.RequestURI)
	require.Equal(t, id, r.Header.Get("webhook-id"))
	current, err := standardwebhooks.NewWebhook(EncodedSecret)
	require.NoError(t, err)
	require.NoError(t, current.Verify(nil, r.Header))
	old, err := standardwebhooks.NewWebhookRaw([]byte(RawSecret))
	require.NoError(t, err)
	require.NoError(t, old.Verify(nil, r.Header))
	forged := r.Header.Clone()
	forged.Set("webhook-id", id+"x")
	require.Error(t, current.Verify(nil, forged))
	return id
}

// Promised is where a 202 says that the result will be.
var Promised = regexp.MustCompile(`^/webservice_v2/webhook\?id=([a-z2-7]{26})$`)

// Promise holds an answer to what a promise of work looks like.
func (a Answer) Promise(t testing.TB) (id string) {
	t.Helper()
	require.Equal(t, 202, a.Status, "%s", a.Body)
	require.JSONEq(t, `{"successCode":202}`, string(a.Body))
	require.Equal(t, "5", a.Header.Get("Retry-After"))
	match := Promised.FindStringSubmatch(a.Header.Get("Location"))
	require.NotNil(t, match, "%s", a.Header.Get("Location"))
	return match[1]
}

// Collect returns the address of a result that is ready.
func (d *Desk) Collect(token, id string) string {
	d.T.Helper()
	a := d.Call("GET", "/webhook?id="+id, token, "")
	require.Equal(d.T, 200, a.Status, "%s", a.Body)
	require.Len(d.T, a.Data(d.T), 1)
	address := a.Data(d.T)["url"].(string)
	require.True(d.T, strings.HasPrefix(address, d.Base+"/webhook/download?"), address)
	return address
}

// Download gets an address without any token.
func (d *Desk) Download(address string, headers ...string) Answer {
	d.T.Helper()
	a, err := d.Try("GET", strings.TrimPrefix(address, d.Base), "", "", headers...)
	require.NoError(d.T, err)
	return a
}

// Answered returns the answer of long-running work as its result has it, which is of that status.
func (d *Desk) Answered(token, id string, status int) Answer {
	d.T.Helper()
	file := d.Download(d.Collect(token, id))
	require.Equal(d.T, fmt.Sprintf(`attachment; filename="answer-%d.json"`, status), file.Header.Get("Content-Disposition"), "%s", file.Body)
	require.Equal(d.T, []any{200, "application/json"}, []any{file.Status, file.Header.Get("Content-Type")})
	return file
}

// Refused holds an answer to a status and its words.
func (a Answer) Refused(t testing.TB, status int, message, what string) {
	t.Helper()
	require.Equal(t, status, a.Status, "%s: %s", what, a.Body)
	require.Equal(t, message, a.Failure(t).Message, what)
}

// OnJobs has f work on the jobs of a database, beside the desk: that of the built-in
// administration, or the keep of a sheet.
func OnJobs(t testing.TB, dsn string, f func(*jobstore.Store)) {
	t.Helper()
	path, onFile := strings.CutPrefix(dsn, "sqlite:")
	open := func() (sqlrecord.DB, error) { return sqlrecord.OpenSQLite(path, sqlrecord.Options{}) }
	if !onFile && strings.HasPrefix(dsn, "postgres:") {
		open = func() (sqlrecord.DB, error) { return sqlrecord.OpenPostgres(t.Context(), dsn, sqlrecord.Options{}) }
	}
	db, err := open()
	require.NoError(t, err)
	jobs, err := jobstore.Open(t.Context(), db)
	require.NoError(t, err)
	f(jobs)
	require.NoError(t, db.Close())
}

// RequireBackup opens a backup: its parts are what the manifest says, and the
// orders are those that the interface lists.
func (d *Desk) RequireBackup(token string, data []byte) {
	t := d.T
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	files := map[string][]byte{}
	for _, f := range archive.File {
		files[f.Name], err = fs.ReadFile(archive, f.Name)
		require.NoError(t, err)
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
	listed := d.List(token, "/order?page_size=1000")
	require.Len(t, ids, len(listed))
	for _, order := range listed {
		require.True(t, ids[order["id"].(float64)])
	}
}

// Ranges downloads in parts.
func (d *Desk) Ranges(address string, whole Answer) {
	t, size, etag := d.T, len(whole.Body), whole.Header.Get("ETag")
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
		a := d.Download(address, c.header...)
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
		a := d.Download(address, "Range", beyond)
		require.Equal(t, 416, a.Status, beyond)
		require.Equal(t, fmt.Sprintf("bytes */%d", size), a.Header.Get("Content-Range"))
		require.Empty(t, a.Body)
	}
	// A download that broke off is taken up where it ended.
	var got []byte
	for len(got) < size {
		a := d.Download(address, "Range", fmt.Sprintf("bytes=%d-%d", len(got), len(got)+size/3), "If-Range", etag)
		require.Equal(t, 206, a.Status)
		got = append(got, a.Body...)
	}
	require.True(t, bytes.Equal(whole.Body, got))
}

// StateOf is what frontdesk callbacks show says of a job.
func (d *Desk) StateOf(id string) webhook.State {
	d.T.Helper()
	for line := range strings.Lines(d.Show(id)) {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "state" {
			return webhook.State(f[1])
		}
	}
	d.T.Fatalf("job %s has no state", id)
	return ""
}

// FollowBackup fetches the result of a backup.
func (d *Desk) FollowBackup(token, location string) {
	d.T.Helper()
	at := location[strings.Index(location, "/webhook?"):]
	var a Answer
	await.True(d.T, func() bool {
		a = d.Call("GET", at, token, "")
		return a.Status == 200
	})
	download := a.Data(d.T)["url"].(string)
	resp, err := d.HTTP.Get(download)
	require.NoError(d.T, err)
	defer resp.Body.Close()
	require.Equal(d.T, 200, resp.StatusCode)
}
