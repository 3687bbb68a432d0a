package gateway

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
	"frontdesk/gateway/webhook/webhooktest"
)

// longFixture is a fixture with callbacks, in which some operations are long-running.
type longFixture struct {
	*fixture
	receiver string      // whose address a request names
	called   chan string // the ids of its calls
}

func newLongFixture(t *testing.T, long ...Grant) *longFixture {
	h := &longFixture{called: make(chan string, 1)}
	authority := webhooktest.NewAuthority(t)
	server := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { h.called <- r.URL.Query().Get("id") }))
	h.receiver = server.URL + "/ready?shop=1"
	var callbacks *Callbacks
	var jobs *jobstore.Store
	h.fixture = newFixture(t, func(f *fixture, o *Options) {
		var err error
		jobs, err = jobstore.Open(t.Context(), f.store.Database())
		require.NoError(t, err)
		files, err := webhook.OpenFiles(filepath.Join(t.TempDir(), "results"))
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, files.Close()) })
		callbacks = &Callbacks{
			Links: webhook.NewLinks(jobs, f.clock.Now, o.Log), Results: files, Timeout: time.Minute, Long: func(g Grant) bool { return slices.Contains(long, g) },
			Rules: webhook.Rules{AllowHosts: []string{"127.0.0.1"}, Ports: []uint16{443, webhooktest.Port(t, server)}},
		}
		o.Callbacks = callbacks
	})
	callbacks.Orchestrator = webhook.Start(webhook.Config{
		Store: jobs, Results: callbacks.Results, Space: 1 << 20, Runners: h.Runners(),
		Caller:  webhook.NewCaller(webhook.CallerConfig{Rules: callbacks.Rules, Roots: authority.Roots()}),
		Secrets: func(string) []string { return nil }, Model: h.o.Offer.Model.Steps(), Workers: 1, Calls: 1, WorkLease: time.Hour, CallLease: time.Hour,
		Schedule: webhook.NewSchedule(func() float64 { return 0.5 }), Clock: h.clock.Now, Random: rand.Reader, Log: h.o.Log,
	})
	t.Cleanup(func() { require.NoError(t, callbacks.Orchestrator.Close()) })
	return h
}

// promised holds an answer to a promise, waits for its callback, and returns the id.
func (h *longFixture) promised(t *testing.T, a answered) string {
	t.Helper()
	require.Equal(t, `{"successCode":202}`, a.body)
	require.Equal(t, 202, a.status)
	require.NotEmpty(t, a.head("Retry-After"))
	id := <-h.called
	require.Equal(t, "/webservice_v2/webhook?id="+id, a.head("Location"))
	return id
}

// download asks for an address as a browser does: without a session.
func (h *longFixture) download(address string, headers ...string) (status int, header *fasthttp.ResponseHeader, content []byte) {
	var req fasthttp.Request
	resp := new(fasthttp.Response)
	req.SetRequestURI(address)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	h.Serve(context.Background(), &req, resp, Peer{})
	if !resp.IsBodyStream() {
		return resp.StatusCode(), &resp.Header, resp.Body()
	}
	content, err := io.ReadAll(resp.BodyStream())
	require.NoError(h.t, err)
	require.NoError(h.t, resp.CloseBodyStream())
	return resp.StatusCode(), &resp.Header, content
}

type urlAnswer struct{ Data struct{ URL string } }

func (h *longFixture) collect(t *testing.T, who visitor, id string) string {
	t.Helper()
	a := who.ask("GET", "/webhook?id="+id, "")
	require.Equal(t, 200, a.status, a.body)
	address := decode[urlAnswer](t, a).Data.URL
	require.True(t, strings.HasPrefix(address, "https://api.example.nl/webservice_v2/"), address)
	return address
}

// TestBackup goes the way of the interface's Events chapter.
func TestBackup(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t)
	demo := h.as("demo")
	id := h.promised(t, demo.ask("POST", "/backup/owner", `{"webhook_url":"`+h.receiver+`"}`))
	address := h.collect(t, demo, id)
	status, header, content := h.download(address)
	require.Equal(t, 200, status)
	require.Equal(t, "application/zip", string(header.ContentType()))
	require.Regexp(t, `^attachment; filename="backup-[0-9]{8}-[0-9]{6}\.zip"$`, string(header.Peek("Content-Disposition")))
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	var names []string
	for _, f := range archive.File {
		names = append(names, f.Name)
	}
	require.Contains(t, names, "manifest.json")
	require.Contains(t, names, "order.ndjson")

	etag := string(header.Peek("ETag"))
	for _, c := range []struct {
		asked, ifRange string
		status         int
		want           []byte
		contentRange   string
	}{
		{"bytes=0-3", "", 206, content[:4], fmt.Sprintf("bytes 0-3/%d", len(content))},
		{"bytes=-2", etag, 206, content[len(content)-2:], fmt.Sprintf("bytes %d-%d/%d", len(content)-2, len(content)-1, len(content))},
		{"bytes=5-", `"another"`, 200, content, ""},
		{"lines=1-2", "", 200, content, ""},
		{"bytes=0-1,4-5", "", 200, content, ""},
		{"bytes=99999999-", "", 416, []byte{}, fmt.Sprintf("bytes */%d", len(content))},
	} {
		status, header, got := h.download(address, "Range", c.asked, "If-Range", c.ifRange)
		require.Equal(t, c.status, status, c.asked)
		require.Equal(t, c.want, append([]byte{}, got...), c.asked)
		require.Equal(t, c.contentRange, string(header.Peek("Content-Range")), c.asked)
	}

	unknown := fault{404, "Field: id value: " + id + " not found", "record_not_found", "id"}
	refused(t, h.as("other").ask("GET", "/webhook?id="+id, ""), unknown)
	refused(t, demo.ask("GET", "/webhook?id=x", ""), fault{404, "Field: id value: x not found", "record_not_found", "id"})
	refused(t, demo.ask("GET", "/webhook", ""), fault{400, "These parameter(s): id are required", "parameters_required", ""})
	for _, damaged := range []string{address + "x", strings.Replace(address, "expires=", "expires=9", 1), strings.SplitN(address, "&", 2)[0]} {
		status, _, body := h.download(damaged)
		require.Equal(t, 404, status, damaged)
		require.Contains(t, string(body), unknown.message)
	}
	h.clock.Advance(time.Hour + time.Second)
	status, _, _ = h.download(address)
	require.Equal(t, 404, status, "an address is good for an hour")
	status, _, again := h.download(h.collect(t, h.as("demo"), id))
	require.Equal(t, 200, status)
	require.Equal(t, content, again)
}

// TestLongRunning: an operation that is marked needs a receiver, and its answer is
// the file.
func TestLongRunning(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t, Grant{"GET", "/order"}, Grant{"PUT", "/order"}, Grant{"DELETE", "/order"}, Grant{"POST", "/contact"}, Grant{"PUT", "/vehicle/publishstop"})
	demo := h.as("demo")
	receiver := "webhook_url=" + url.QueryEscape(h.receiver)
	inBody := func(rest string) string { return `{"webhook_url":"` + h.receiver + `"` + rest + `}` }
	before := demo.ask("GET", "/contact/1", "").body
	for _, c := range []struct {
		method, target, body string
		name, says           string
	}{
		{"GET", "/order/1?fields=id&" + receiver, "", "answer-200.json", `{"data":{"id":1}}`},
		{"GET", "/order?page_size=1&fields=id&" + receiver, "", "answer-200.json", `{"data":[{"id":1}],"page":1,"page_size":1,"next":"/webservice_v2/order?page_size=1&fields=id&page=2"}`},
		{"PUT", "/order/1", inBody(`,"reference":"PO-7"`), "answer-200.json", `"reference":"PO-7"`},
		{"PUT", "/order/99", inBody(""), "answer-404.json", `"message":"Field: id value: 99 not found"`},
		{"POST", "/contact", inBody(`,"kind":"company","name":"Jansen"`), "answer-201.json", `"name":"Jansen"`},
		{"PUT", "/vehicle/publishstop?id=1", inBody(""), "answer-200.json", `"publish_status":"not_published"`},
		{"DELETE", "/order/4?" + receiver, "", "answer-409.json", `"message":"order_status is invoiced, cannot add/update/delete"`},
	} {
		id := h.promised(t, demo.ask(c.method, c.target, c.body))
		status, header, content := h.download(h.collect(t, demo, id))
		require.Equal(t, 200, status, c.target)
		require.Equal(t, "application/json", string(header.ContentType()))
		require.Equal(t, `attachment; filename="`+c.name+`"`, string(header.Peek("Content-Disposition")), "%s", content)
		require.Contains(t, string(content), c.says)
	}
	require.Equal(t, before, demo.ask("GET", "/contact/1", "").body, "what is not marked answers at once")

	required := fault{403, "Field: webhook_url is required and not supplied in request", "field_required", "webhook_url"}
	invalid := func(address, validation string) fault {
		return fault{403, "Field: webhook_url has an invalid value: " + address + " for validation: " + validation, "custom_validation_failed", "webhook_url"}
	}
	for _, c := range []struct {
		method, target, body string
		want                 fault
	}{
		{"GET", "/order/1", "", required},
		{"DELETE", "/order/1?webhook_url=", "", required},
		{"GET", "/order/1?webhook_url=http%3A%2F%2Fexample.nl", "", invalid("http://example.nl", "https")},
		{"GET", "/order?page=0&" + receiver, "", fault{400, "Parameter invalid page value must be greater than 0", "page_invalid", ""}},
		{"PUT", "/order/1", "", fault{400, "Empty body", "empty_body", ""}},
		{"PUT", "/order/1", `{}`, required},
		{"PUT", "/order/1", `{"webhook_url":null}`, required},
		{"PUT", "/order/1", `{"webhook_url":7}`, fault{403, "Field: webhook_url has an invalid value: 7 for datatype: varchar", "varchar_invalid", "webhook_url"}},
		{"PUT", "/order/1", `[]`, fault{400, "Body is not valid JSON", "body_not_json", ""}},
		{"PUT", "/order/1", inBody(`,"colour":1`), fault{403, "Field: colour not found in model", "field_not_in_model", "colour"}},
		{"PUT", "/vehicle/publishstop?id=1", "", required},
		{"POST", "/backup/owner", `{}`, required},
		{"POST", "/backup/owner", `{"webhook_url":"https://10.0.0.1/x"}`, invalid("https://10.0.0.1/x", "public address")},
		{"POST", "/backup/owner", `{"webhook_url":"https://localhost/x"}`, invalid("https://localhost/x", "public address")},
		{"POST", "/backup/owner", `{"webhook_url":"https://example.nl/x?id=1"}`, invalid("https://example.nl/x?id=1", "https")},
		{"POST", "/backup/owner", `{"webhook_url":"https://a@example.nl/x"}`, invalid("https://a@example.nl/x", "https")},
		{"POST", "/backup/owner", `{"webhook_url":"https://example.nl:8443/x"}`, invalid("https://example.nl:8443/x", "https")},
	} {
		refused(t, demo.ask(c.method, c.target, c.body), c.want)
	}
}

// TestResultThatIsNotThereYet, and one whose work failed.
func TestResultThatIsNotThereYet(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t)
	demo := h.as("demo")
	working, goOn := make(chan struct{}), make(chan struct{})
	h.o.Callbacks.Orchestrator.Runners[backupWork] = func(context.Context, webhook.Job, io.Writer) (webhook.Content, error) {
		close(working)
		<-goOn
		return webhook.Content{}, errors.New("the disk is gone")
	}
	a := demo.ask("POST", "/backup/owner", `{"webhook_url":"`+h.receiver+`"}`)
	<-working
	target := strings.TrimPrefix(a.head("Location"), "/webservice_v2")
	early := demo.ask("GET", target, "")
	require.Equal(t, `{"successCode":202}`, early.body)
	require.Equal(t, 202, early.status)
	require.NotEmpty(t, early.head("Retry-After"))
	close(goOn)
	h.promised(t, a)
	refused(t, demo.ask("GET", target, ""), fault{500, "Internal server error", "internal_error", ""})
}
