package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/accesslog"
	"frontdesk/cmd/frontdesk/rig"
)

const (
	trialKey = "77777777-7777-4777-8777-777777777777"
	overKey  = "66666666-6666-4666-8666-666666666666"
)

// onTrial are api_keys that may read orders: the allowlist of the one is on trial,
// that of the other was.
func onTrial() string {
	return fmt.Sprintf(`
  - {name: trial, key_sha256: [%x], mode: shadow, until: %s, allow: [GET /order]}
  - {name: over, key_sha256: [%x], mode: shadow, until: 2026-01-01, allow: [GET /order]}
`, sha256.Sum256([]byte(trialKey)), time.Now().AddDate(0, 0, 30).Format(time.DateOnly), sha256.Sum256([]byte(overKey)))
}

// TestShadowMode: what the allowlist would refuse is served and noted up to the
// date, and refused after it.
func TestShadowMode(t *testing.T) {
	d := rig.OnSQLite(t, rig.Options{Keys: onTrial()})
	trial, over := d.Login(trialKey, "demo"), d.Login(overKey, "demo")

	require.Equal(t, 200, d.Call("GET", "/order/1", trial, "").Status)
	require.Equal(t, 200, d.Call("GET", "/vehicle?page_size=1", trial, "").Status)
	made := d.Create(trial, "contact", `{"name":"On trial","kind":"company"}`)
	require.Equal(t, 200, d.Call("DELETE", fmt.Sprintf("/contact/%d", made), trial, "").Status)
	require.Equal(t, 400, d.Call("GET", "/nowhere", trial, "").Status, "what nobody is offered is not served")

	refused := d.Call("GET", "/vehicle?page_size=1", over, "")
	require.Equal(t, 400, refused.Status)
	require.Equal(t, "Invalid endpoint: /vehicle", refused.Failure(t).Message)
	require.Equal(t, "Method: DELETE not supported for endpoint: /order/1", d.Call("DELETE", "/order/1", over, "").Failure(t).Message)

	for _, token := range []string{trial, over} {
		var access struct{ Data accessOf }
		require.NoError(t, json.Unmarshal(d.Call("GET", "/authenticate/acces", token, "").Body, &access))
		require.Equal(t, []endpointOf{{"GET", "/order"}}, access.Data.Endpoints, "what is enforced once the trial is over")
	}
	described, err := d.Try(http.MethodGet, "/openapi.json?api_key="+trialKey, "", "")
	require.NoError(t, err)
	require.Contains(t, string(described.Body), `"/order/{id}"`)
	require.NotContains(t, string(described.Body), `"/vehicle/{id}"`)

	d.Shutdown()
	lines := map[string]int{}
	_, err = accesslog.Logs{Names: []string{"-"}, Stdin: strings.NewReader(d.Log.String())}.Requests(t.Context(), time.Time{}, func(l *accesslog.Line, _ bool) {
		if l.Key == "trial" || l.Key == "over" {
			lines[strings.Join([]string{l.Key, l.Method, l.Endpoint, l.Reason, l.Shadow}, " ")]++
		}
	})
	require.NoError(t, err)
	for line, n := range map[string]int{
		"trial GET /order/{id}  ":                      1,
		"trial GET /vehicle  endpoint_unknown":         1,
		"trial POST /contact  endpoint_unknown":        1,
		"trial DELETE /contact/{id}  endpoint_unknown": 1,
		"trial GET  endpoint_unknown ":                 1, // refused, and whose it was found for the log
		"over GET /vehicle endpoint_unknown ":          1,
		"over DELETE /order/{id} method_unsupported ":  1,
		"over GET /authenticate/acces  ":               1,
		"trial GET /authenticate/acces  ":              1,
	} {
		require.Equal(t, n, lines[line], "%q of %v", line, lines)
	}
}

type accessOf struct{ Endpoints []endpointOf }

type endpointOf struct{ Method, Path string }
