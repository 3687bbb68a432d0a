package several

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
)

// keyed are gateways of one service, each with its own files of api_keys. Nothing passes a timer of
// theirs but the test: what is so without that, is so at once.
type keyed struct {
	*testing.T
	gateways []*rig.Kept
	files    []string // of the api_key full
}

func startKeyed(t *testing.T, n int) *keyed {
	t.Helper()
	k, dsn, store := &keyed{T: t}, rig.Engines[1].DSN(t), redistest.Start(t)
	for range n {
		file := filepath.Join(t.TempDir(), "frontdesk.yaml")
		text := rig.KeysApart(t, file, rig.KeptConfig(t, dsn, fmt.Sprintf("sessions: {store: %q}", store.URL()), rig.KeptKey(`"GET /order", "GET /contact"`)+rig.KeptOrders))
		k.gateways = append(k.gateways, rig.StartKept(t, file, text, false))
		k.files = append(k.files, filepath.Join(filepath.Dir(file), "keys.d", "full.yaml"))
	}
	return k
}

// out wants the api_key full refused by every gateway: its session, a login, its description.
func (k *keyed) out(token, cause, what string) {
	k.Helper()
	for n, g := range k.gateways {
		for path, status := range map[string]int{"/order": 401, rig.LoginPath(rig.FullKey, "demo", "demo"): 401, "/openapi.json?api_key=" + rig.FullKey: 401} {
			a := g.Call(http.MethodGet, path, token, "")
			require.Equal(k, status, a.Status, "gateway %d, %s: %s", n, path, what)
			require.Regexp(k, cause, g.Accessed(a.Failure(k).RequestID).Cause, "gateway %d, %s: %s", n, path, what)
		}
	}
}

func (k *keyed) status(n int, token string) int {
	k.Helper()
	return k.gateways[n].Status(http.MethodGet, "/order", token)
}

// looked has every gateway read what the others told.
func (k *keyed) looked() {
	k.Helper()
	for _, g := range k.gateways {
		g.Looked()
	}
}

// refused are the reasons of a gateway's /readyz that are about api_keys.
func (k *keyed) reasons(n int) (all []string) {
	k.Helper()
	for _, reason := range k.gateways[n].Ready().Reasons {
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
	k := startKeyed(t, 3)
	const expired = "^key_(expired|revoked)$"
	token, other := k.gateways[0].Login(rig.FullKey, "demo"), k.gateways[1].Login(rig.OrdersKey, "demo")
	before, err := os.ReadFile(k.files[0])
	require.NoError(t, err)

	require.NoError(t, os.Remove(k.files[1]))
	k.gateways[1].HangUp()
	await.True(t, func() bool { return k.status(0, token) == 401 })
	k.out(token, "^key_(unknown|revoked)$", "by a file that is gone")
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
	k.out(token, expired, "by the command alone")
	require.Equal(t, 200, k.status(2, other), "another key")
	k.gateways[0].HangUp()
	k.looked()
	k.out(token, expired, "and by the files of one")
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
	k := startKeyed(t, 2)
	token := k.gateways[1].Login(rig.FullKey, "demo")
	at := time.Now().Add(3 * time.Second).UTC().Truncate(time.Second)
	code, _, problems := rig.Command(t, "", "key", "revoke", "full", "--at", at.Format(time.RFC3339), "--config", k.gateways[0].File)
	require.Zero(t, code, problems)
	k.looked()
	if time.Now().Before(at) {
		require.Equal(t, 200, k.status(1, token), "it has not come yet")
	}
	await.True(t, func() bool { return k.status(1, token) == 401 })
	require.False(t, time.Now().Before(at))

	text, err := os.ReadFile(k.gateways[1].File)
	require.NoError(t, err)
	file := filepath.Join(filepath.Dir(k.gateways[1].File), "late.yaml")
	late := rig.StartKept(t, file, regexp.MustCompile(`ops: \{listen: "[^"]*"\}`).ReplaceAllString(string(text), `ops: {listen: "OPS"}`), false)
	require.Equal(t, 401, late.Call(http.MethodGet, rig.LoginPath(rig.FullKey, "demo", "demo"), "", "").Status)
	require.Contains(t, strings.Join(late.Ready().Reasons, "\n"), "the api_key full ends at "+at.Format(time.RFC3339))
}

// TestBlockIsOneBlock: a command that blocks a user, or sets a password, ends the sessions at once where
// gateways share them.
func TestBlockIsOneBlock(t *testing.T) {
	t.Parallel()
	k := startKeyed(t, 2)
	first, second := k.gateways[0].Login(rig.FullKey, "demo"), k.gateways[1].Login(rig.FullKey, "demo")
	code, out, problems := rig.Command(t, "", "user", "block", "demo", "--config", k.gateways[0].File)
	require.Zero(t, code, problems)
	require.Contains(t, out, "no login succeeds any more; open sessions have ended\n")
	for n := range k.gateways {
		require.Equal(t, 401, k.status(n, first))
		require.Equal(t, 401, k.status(n, second))
		require.Equal(t, 401, k.gateways[n].Call(http.MethodGet, rig.LoginPath(rig.FullKey, "demo", "demo"), "", "").Status)
	}
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
