package several

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// keyOut wants the api_key full refused by every gateway: its session, a login, its description.
func (s *shared) keyOut(token, cause, what string) {
	s.Helper()
	s.out(token, cause, what, rig.LoginPath(rig.FullKey, "demo", "demo"), "/openapi.json?api_key="+rig.FullKey)
}

func (s *shared) status(n int, token string) int {
	s.Helper()
	return s.gateways[n].Status(http.MethodGet, "/order", token)
}

// reasons are those of a gateway's /readyz that are about api_keys.
func (s *shared) reasons(n int) (all []string) {
	s.Helper()
	for _, reason := range s.gateways[n].Ready().Reasons {
		if strings.HasPrefix(reason, "the api_key ") {
			all = append(all, reason)
		}
	}
	return all
}

// TestRevokeIsOneRevoke: an api_key that is ended by a command or by the files of one gateway is
// refused by all at once, whatever their files say, and they say so. It stays so, whatever files come
// later; of a hash that is gone from the files of one until they have it again.
func TestRevokeIsOneRevoke(t *testing.T) {
	t.Parallel()
	k := startShared(t, 3, redistest.Start(t))
	const expired = "key_(expired|revoked)"
	token, other := k.gateways[0].Login(rig.FullKey, "demo"), k.gateways[1].Login(rig.OrdersKey, "demo")
	before := must.Have(os.ReadFile(k.files[0]))(t)

	require.NoError(t, os.Remove(k.files[1]))
	k.gateways[1].HangUp()
	await.True(t, func() bool { return k.status(0, token) == 401 })
	k.keyOut(token, "key_(unknown|revoked)", "by a file that is gone")
	k.gateways[1].WriteTo(k.files[1], string(before))
	k.gateways[1].HangUp()
	await.True(t, func() bool {
		k.looked()
		return k.gateways[2].Call(http.MethodGet, rig.LoginPath(rig.FullKey, "demo", "demo"), "", "").Status == 200
	}, "the file is there again")
	k.looked() // the first may have looked before it was told
	require.Empty(t, k.reasons(0))
	token = k.gateways[0].Login(rig.FullKey, "demo")

	code, out, problems := rig.Command(t, "", "key", "revoke", "full", "--config", k.gateways[0].File)
	require.Zero(t, code, problems)
	require.Regexp(t, `(?m)^3 gateways share the database: .*All refuse what has ended by this`, out)
	k.keyOut(token, expired, "by the command alone")
	require.Equal(t, 200, k.status(2, other), "another key")
	k.gateways[0].HangUp()
	k.looked()
	k.keyOut(token, expired, "and by the files of one")
	require.Empty(t, k.reasons(0))
	for n := range 2 {
		require.Len(t, k.reasons(n+1), 1)
		k.gateways[n+1].Told("the api_key full ends at ")
		require.Regexp(t, "^the api_key full ends at .*Z, which .* told all gateways at .*Z; the files here have it without an end: bring them up to date$", k.reasons(n + 1)[0])
	}

	changed := func(n int, text, what string) {
		t.Helper()
		k.gateways[n].WriteTo(k.files[n], text)
		k.gateways[n].HangUp()
		k.looked()
		for at, g := range k.gateways { // without logins: ten wrong ones are throttled
			require.Equal(t, 401, k.status(at, token), what)
			require.Equal(t, 401, g.Call(http.MethodGet, "/openapi.json?api_key="+rig.FullKey, "", "").Status, what)
		}
	}
	changed(1, string(before), "files that always had it")
	changed(1, strings.Replace(string(before), "    allow:", "    expires: 2098-12-31\n    allow:", 1), "an end where there was none")
	changed(1, strings.Replace(string(before), "    allow:", "    expires: 2099-12-31\n    allow:", 1), "and a later one")
	changed(0, string(before), "the file of before, at the gateway that ended it")
	require.Len(t, k.reasons(0), 1)
	require.NoError(t, os.Remove(k.files[2]))
	k.gateways[2].HangUp()
	k.looked()
	changed(2, string(before), "a file that was away")
	require.Contains(t, []int{401, 429}, k.gateways[2].Call(http.MethodGet, rig.LoginPath(rig.FullKey, "demo", "demo"), "", "").Status)
}

// TestEndBroughtForward: an end that is still to come is one end, too, and no gateway that starts later
// knows less.
func TestEndBroughtForward(t *testing.T) {
	t.Parallel()
	k := startShared(t, 2, redistest.Start(t))
	token := k.gateways[1].Login(rig.FullKey, "demo")
	at := time.Now().Add(2 * time.Second).UTC().Truncate(time.Second)
	code, _, problems := rig.Command(t, "", "key", "revoke", "full", "--at", at.Format(time.RFC3339), "--config", k.gateways[0].File)
	require.Zero(t, code, problems)
	k.looked()
	if status := k.status(1, token); time.Now().Before(at) {
		require.Equal(t, 200, status, "it has not come yet")
	}
	await.True(t, func() bool { return k.status(1, token) == 401 })
	require.False(t, time.Now().Before(at))
	k.keyOut(token, "key_(expired|revoked)", "at each of them")

	file := filepath.Join(filepath.Dir(k.gateways[1].File), "late.yaml")
	late := rig.StartKept(t, file, strings.Replace(rig.Read(t, k.gateways[1].File), k.gateways[1].Ops, "OPS", 1), false)
	require.Equal(t, 401, late.Status(http.MethodGet, rig.LoginPath(rig.FullKey, "demo", "demo"), ""))
	require.Contains(t, strings.Join(late.Ready().Reasons, "\n"), "the api_key full ends at "+at.Format(time.RFC3339))
}

// TestStoreComesBackEmpty: where Redis has forgotten everything, operators are told why everybody has to
// log in again.
func TestStoreComesBackEmpty(t *testing.T) {
	t.Parallel()
	store := redistest.Start(t)
	one := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"),
		rig.KeptConfig(t, rig.Engines[0].DSN(t), fmt.Sprintf("sessions: {store: %q}", store.URL()), rig.KeptKey(`"GET /order"`)), false)
	looked := func() {
		t.Helper()
		await.True(t, func() bool { return one.Timers.Held(desk.StoreEvery) == 1 })
		one.Timers.Pass(desk.StoreEvery)
		await.True(t, func() bool { return one.Timers.Held(desk.StoreEvery) == 1 })
	}
	looked()
	require.Empty(t, one.Ready().LookAt)
	store.Command("FLUSHALL")
	looked()
	require.Len(t, one.Ready().LookAt, 1)
	require.Regexp(t, "^the store of sessions came back empty, found at .*Z: everybody has to log in again", one.Ready().LookAt[0])
	require.Equal(t, desk.HealthOK, one.Ready().Status)
	one.Told("the store of sessions came back empty")
}
