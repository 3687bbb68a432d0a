package gateway

import (
	"compress/gzip"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
)

func TestUnchanged(t *testing.T) {
	const byVersion, byContent = `"aaaaaa-2.k3x"`, `"aaaaaa.00112233445566778899aabb"`
	for _, c := range []struct {
		list, etag string
		want       bool
	}{
		{`"aaaaaa-2.k3x"`, byVersion, true},
		{`"bbbbbb-2.k3x"`, byVersion, true}, // read under another model
		{`"x", "bbbbbb-2.k3x"`, byVersion, true},
		{`*`, byVersion, true},
		{`"aaaaaa-1.k3x"`, byVersion, false},
		{`"bbbbbb-2.k3y"`, byVersion, false},
		{`W/"aaaaaa-2.k3x"`, byVersion, false},
		{`W/aaaa-2.k3x"`, byVersion, false},
		{`-2.k3x"`, byVersion, false},
		{``, byVersion, false},
		{byContent, byContent, true},
		{`"bbbbbb.00112233445566778899aabb"`, byContent, false}, // which may be of other fields
	} {
		require.Equal(t, c.want, unchanged(c.list, c.etag), "%s of %s", c.list, c.etag)
	}
}

// TestListsAreCompressed from 1 KiB on, for who takes that.
func TestListsAreCompressed(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	const list = "/country?page_size=50"
	plain := demo.ask("GET", list, "")
	require.Equal(t, 200, plain.status)
	require.Greater(t, len(plain.body), 1024)
	for accept, coding := range map[string]string{"": "", "identity": "", "gzip;q=0": "", "gzip": "gzip", "br": "br", "br, gzip;q=0": "br", "deflate, gzip, br": "gzip"} {
		a := demo.ask("GET", list, "", "Accept-Encoding", accept)
		require.Equal(t, coding, a.head("Content-Encoding"), accept)
		require.Equal(t, "Accept-Encoding", a.head("Vary"), accept)
		body := a.body
		switch coding {
		case "gzip":
			body = unzipped(t, a.body)
		case "br":
			all, err := fasthttp.AppendUnbrotliBytes(nil, []byte(a.body))
			require.NoError(t, err)
			body = string(all)
		}
		require.Equal(t, plain.body, body, accept)
		require.True(t, coding == "" || len(a.body) < len(plain.body)/2, accept)
	}
	small := demo.ask("GET", "/country?page_size=1&fields=id", "", "Accept-Encoding", "gzip")
	require.Equal(t, 200, small.status)
	require.Empty(t, small.head("Content-Encoding"), "it is small")
	require.Equal(t, "Accept-Encoding", small.head("Vary"))
	for _, query := range []string{"/country?page=0", "/country?colour=1"} {
		a := demo.ask("GET", query, "", "Accept-Encoding", "gzip")
		require.Equal(t, 400, a.status)
		require.Empty(t, a.head("Vary"), "no refusal says that there is a list")
	}
	one := demo.ask("GET", "/country/528", "", "Accept-Encoding", "gzip")
	require.Empty(t, one.head("Vary")+one.head("Content-Encoding"))
	require.Equal(t, 304, demo.ask("GET", "/country/528", "", "Accept-Encoding", "gzip", "If-None-Match", one.head("ETag")).status)
}

func unzipped(t *testing.T, packed string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(packed))
	require.NoError(t, err)
	all, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(all)
}
