package reload

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// TestReloadOfFields takes a field from an api_key while it serves: what was kept for it before, results
// and answers under an idempotency key, is not told any more, and is again once it may read the field.
func TestReloadOfFields(t *testing.T) {
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), "", "\nKEYS")
	config := func(entry string) string {
		return strings.Replace(text, "\nKEYS", rig.KeptKey(entry+`, "POST /contact/bulk", "POST /backup/owner", "GET /webhook"`), 1)
	}
	const all, fewer = `"* /contact"`, `{"* /contact": {without: [note]}}`
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), config(all), false)
	token := k.Login(rig.FullKey, "demo")
	const record = `{"kind":"person","name":"N"}`
	once := []string{"Idempotency-Key", "once"}
	made := k.Gets(201, "POST", "/contact", token, record, once...)
	path := strings.TrimPrefix(made.Header.Get("Location"), "/webservice_v2")
	var jobs []string
	for _, work := range []struct{ path, body string }{
		{"/contact/bulk", `{"webhook_url":"https://receiver.invalid/done","records":[` + record + `]}`}, {"/backup/owner", `{"webhook_url":"https://receiver.invalid/done"}`},
	} {
		id := k.Call("POST", work.path, token, work.body).Promise(t)
		await.True(t, func() bool { return k.Status("GET", "/webhook?id="+id, token) == 200 })
		jobs = append(jobs, "/webhook?id="+id)
	}

	k.Write(config(fewer))
	k.HangUp()
	require.NotContains(t, string(k.Gets(200, "GET", path, token, "").Body), "note")
	for _, job := range jobs {
		require.Equal(t, 404, k.Status("GET", job, token))
	}
	k.Gets(422, "POST", "/contact", token, record, once...)
	require.Equal(t, 400, k.Status("POST", "/backup/owner", token))
	tag := k.Gets(200, "GET", path, token, "").Header.Get("ETag")
	k.Gets(200, "PUT", path, token, `{"language":"nl"}`, "If-Match", tag)

	k.Write(config(all))
	k.HangUp()
	require.Contains(t, string(k.Gets(200, "GET", path, token, "").Body), "note")
	for _, job := range jobs {
		require.Equal(t, 200, k.Status("GET", job, token))
	}
	require.Equal(t, made.Body, k.Gets(201, "POST", "/contact", token, record, once...).Body)
	k.Gets(412, "PUT", path, token, `{"language":"de"}`, "If-Match", tag)
}
