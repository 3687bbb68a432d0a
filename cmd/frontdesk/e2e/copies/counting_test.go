package copies

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"

	"frontdesk/cmd/frontdesk/rig/must"
)

// counting passes requests on, and counts the records in the answers.
type counting struct {
	base              string
	requests, records atomic.Int64
}

func (c *copying) counting() *counting {
	c.t.Helper()
	to := must.Have(url.Parse(c.gateways[0].Base))(c.t)
	counted := new(counting)
	transport := new(http.Transport)
	server := httptest.NewServer(&httputil.ReverseProxy{
		Transport: transport,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.Out.URL.Scheme, r.Out.URL.Host = to.Scheme, to.Host
			r.Out.Header.Del("Accept-Encoding")
		},
		ModifyResponse: func(resp *http.Response) error {
			counted.requests.Add(1)
			path := strings.TrimPrefix(resp.Request.URL.Path, to.Path)
			body, err := io.ReadAll(resp.Body)
			resp.Body = io.NopCloser(bytes.NewReader(body))
			counted.records.Add(recordsIn(path, body))
			return err
		},
	})
	c.t.Cleanup(func() {
		server.Close()
		transport.CloseIdleConnections()
	})
	counted.base = server.URL + to.Path
	return counted
}

// recordsIn counts the records of an answer.
func recordsIn(path string, body []byte) (n int64) {
	if path == "/changes/digest" || strings.HasPrefix(path, "/model/") || strings.HasPrefix(path, "/authenticate") {
		return 0
	}
	var answer struct{ Data json.RawMessage }
	var list []struct{ Record json.RawMessage }
	switch {
	case json.Unmarshal(body, &answer) != nil || answer.Data == nil:
		return 0
	case json.Unmarshal(answer.Data, &list) != nil:
		return 1
	case path != "/changes":
		return int64(len(list))
	}
	for _, change := range list {
		if string(change.Record) != "null" {
			n++
		}
	}
	return n
}
