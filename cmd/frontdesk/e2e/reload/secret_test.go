package reload

import (
	"path/filepath"
	"strings"
	"testing"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestReloadSecret signs callbacks with the secret that is configured now.
func TestReloadSecret(t *testing.T) {
	h, options := rig.NewHooks(t, nil)
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), options.Extra, options.Keys)
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text, false)
	token := k.Login(rig.HookedKey, "demo")
	k.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
	h.Next(t)

	k.Write(strings.Replace(text, rig.RawSecret, "a newer secret", 1))
	k.HangUp()
	k.Call("POST", "/backup/owner", token, h.Body()).Promise(t)
	r := <-h.Calls
	require.NoError(t, must.Have(standardwebhooks.NewWebhookRaw([]byte("a newer secret")))(t).Verify(nil, r.Header))
	require.Error(t, must.Have(standardwebhooks.NewWebhookRaw([]byte(rig.RawSecret)))(t).Verify(nil, r.Header))
	require.NotContains(t, k.RequireLogged(`"api_key changed"`, "webhook_secret: + [secret]"), "a newer secret")
}
