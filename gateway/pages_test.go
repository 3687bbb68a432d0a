package gateway

import (
	"bytes"
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTestPage is open to everybody, and its first link is the description.
func TestTestPage(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	nobody := visitor{h: h}
	a := nobody.ask("GET", "/", "")
	require.Equal(t, 200, a.status)
	require.Equal(t, "text/html; charset=utf-8", a.head("Content-Type"))
	first := a.body[strings.Index(a.body, "<a "):]
	require.Contains(t, first[:strings.Index(first, ">")], "openapi.json")
	require.Equal(t, "private, no-cache", a.head("Cache-Control"))
	require.Equal(t, "Accept-Encoding", a.head("Vary"))
	require.Equal(t, "no-referrer", a.head("Referrer-Policy"))
	require.Contains(t, a.head("Content-Security-Policy"), "default-src")
	require.NotContains(t, a.head("Content-Security-Policy"), "unsafe-inline")

	etag := a.head("ETag")
	same := nobody.ask("GET", "/", "", "If-None-Match", etag)
	require.Equal(t, 304, same.status)
	require.Empty(t, same.body)
	packed := nobody.ask("GET", "/", "", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", packed.head("Content-Encoding"))
	require.NotEqual(t, etag, packed.head("ETag"))
	reader, err := gzip.NewReader(bytes.NewReader([]byte(packed.body)))
	require.NoError(t, err)
	text, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, a.body, string(text))

	bare := nobody.ask("GET", "", "")
	require.Equal(t, 200, bare.status)
	require.Equal(t, "text/html; charset=utf-8", bare.head("Content-Type"))
	require.Contains(t, bare.body, "webservice_v2/", "what it loads is below the base path all the same")
	refused(t, nobody.ask("POST", "/", ""), fault{400, "Method: POST not supported for endpoint: /", "method_unsupported", ""})
	refused(t, nobody.ask("GET", "/?x=1", ""), fault{400, "Invalid request, query parameter is not supported: x", "query_parameter_unsupported", ""})
}
