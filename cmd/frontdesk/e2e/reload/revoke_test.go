package reload

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
)

// TestRevokeIsFinal: an end by expires that has come stays, whatever files come later, also where
// there is one gateway, and after a start with a file that is older.
func TestRevokeIsFinal(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	text := rig.KeptConfig(t, rig.Engines[0].DSN(t), "", rig.KeptKey(`"GET /contact"`)+rig.KeptOrders)
	k := rig.StartKept(t, file, text, false)
	token := k.Login(rig.FullKey, "demo")
	refused := func(k *rig.Kept, what string) {
		t.Helper()
		require.Equal(t, 401, k.Status("GET", "/contact/1", token), what)
		require.Equal(t, 401, k.Status("GET", rig.LoginPath(rig.FullKey, "demo", "demo"), ""), what)
	}
	require.Equal(t, 200, k.Status("GET", "/contact/1", token))
	ended := "    expires: " + time.Now().Add(-time.Minute).UTC().Format(time.RFC3339) + "\n    allow: [\"GET /contact\"]"
	k.Write(strings.Replace(text, "    allow: [\"GET /contact\"]", ended, 1))
	k.HangUp()
	refused(k, "it has ended")
	k.Write(text)
	k.HangUp()
	refused(k, "an older file is back")
	k.Looked()
	refused(k, "and the gateway has read what is known")
	k.Shutdown()
	refused(rig.StartKept(t, file, text, false), "a start with the older file")
}
