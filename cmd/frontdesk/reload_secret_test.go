package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"
)

// TestReloadSecret signs callbacks with the secret that is configured now.
func TestReloadSecret(t *testing.T) {
	h, options := newHooks(t, nil)
	text := strings.Replace(keptConfig(t, engines[0].dsn(t), "", options.keys), "webhooks:", options.extra+"#", 1)
	k := startKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text, false)
	token := k.login(hookedKey, "demo")
	k.call("POST", "/backup/owner", token, h.body()).promise(t)
	h.next(t)

	k.write(strings.Replace(text, rawSecret, "a newer secret", 1))
	k.hangUp()
	k.call("POST", "/backup/owner", token, h.body()).promise(t)
	var r *http.Request
	select {
	case r = <-h.calls:
	case <-time.After(patience):
		t.Fatal("nobody called")
	}
	newer, err := standardwebhooks.NewWebhookRaw([]byte("a newer secret"))
	require.NoError(t, err)
	require.NoError(t, newer.Verify(nil, r.Header))
	older, err := standardwebhooks.NewWebhookRaw([]byte(rawSecret))
	require.NoError(t, err)
	require.Error(t, older.Verify(nil, r.Header))
	require.NotContains(t, k.requireLogged(`"api_key changed"`, "webhook_secret: + [secret]"), "a newer secret")
}
