package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
)

// TestMirrorAsksForWhatThereIs: an api_key that may read only some has no request refused, and an
// address without the interface's path is told with the likely one.
func TestMirrorAsksForWhatThereIs(t *testing.T) {
	const some = "77777777-7777-4777-8777-777777777777"
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t), Keys: fmt.Sprintf(`
  - name: some
    key_sha256: ["%x"]
    allow: [GET /changes, GET /changes/digest, "GET /model/*", GET /order, GET /orderline, GET /contactaddress]
`, sha256.Sum256([]byte(some)))})
	password := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(password, []byte("demo"), 0o600))
	mirror := func(base string) (int, string, string) {
		return cli("", "mirror", base, "--to", "sqlite:"+filepath.Join(t.TempDir(), "copy.db"), "--api-key", some, "--username", "demo", "--password-file", password)
	}
	host := strings.TrimSuffix(d.Base, "/webservice_v2")
	for _, path := range []string{"", "/", "/webservice"} {
		code, _, stderr := mirror(host + path)
		require.Equal(t, 2, code)
		require.Regexp(t, "^frontdesk: at "+host+strings.TrimSuffix(path, "/")+` there is no such interface \(GET /authenticate: 400 Invalid endpoint: \S+ \(request \S+\)\); `+
			"look at its path, which is mostly /webservice_v2: "+d.Base+"\n$", stderr)
	}
	code, out, stderr := mirror(d.Base)
	require.Zero(t, code, stderr)
	require.Contains(t, out, " records of 3 resources\n")
	d.Accessed(d.Call("GET", "/nothing", "", "").Failure(t).RequestID)
	asked := 0
	for line := range strings.Lines(d.Log.String()) {
		if strings.Contains(line, `"msg":"request"`) && strings.Contains(line, `"key":"some"`) {
			asked++
			require.Contains(t, line, `"status":200`)
		}
	}
	require.Greater(t, asked, 8)
}

// TestMirrorIsStoppedWithinARequest: to be stopped is how --follow ends, whatever it does just
// then. A copy that was to be up to date is not.
func TestMirrorIsStoppedWithinARequest(t *testing.T) {
	d := rig.Start(t, rig.Options{DSN: rig.Engines[0].DSN(t)})
	to, err := url.Parse(strings.TrimSuffix(d.Base, "/webservice_v2"))
	require.NoError(t, err)
	password := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(password, []byte("demo"), 0o600))
	for _, row := range []struct {
		more   []string
		code   int
		stderr string
	}{
		{[]string{"--follow"}, 0, ""},
		{nil, 1, "frontdesk: stopped; the same command goes on from here\n"},
	} {
		ctx, stop := context.WithCancel(t.Context())
		proxy := httputil.NewSingleHostReverseProxy(to)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Query().Has("after") {
				stop()
				<-r.Context().Done()
				return
			}
			proxy.ServeHTTP(w, r)
		}))
		var out, problems rig.LockedBuffer
		code := run(desk.Program{Ctx: ctx, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &problems}, append([]string{"mirror", server.URL + "/webservice_v2", "--resource", "order",
			"--to", "sqlite:" + filepath.Join(t.TempDir(), "copy.db"), "--api-key", rig.FullKey, "--username", "demo", "--password-file", password}, row.more...))
		server.Close()
		require.Equal(t, row.code, code, out.String())
		require.Equal(t, row.stderr, problems.String())
	}
}
