package bounds

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook/webhooktest"
)

// What a client is told, whatever the cause. ID is the request's.
const (
	tokenInvalid       = `{"errorCode":401,"message":"Not authorized","reason":"token_invalid","request_id":"ID"}`
	notLoggedIn        = `{"errorCode":401,"message":"Not authorized","reason":"not_logged_in","request_id":"ID"}`
	credentialsInvalid = `{"errorCode":401,"message":"Not authorized","reason":"credentials_invalid","request_id":"ID"}`
)

// refusal is a request that is refused, what its client is told, and what its access line tells.
type refusal struct {
	path, token string
	body        string
	cause       auth.Cause
	key, client string
}

// holds wants the answer to tell nothing, and the access line to tell all.
func (r refusal) holds(t *testing.T, d *rig.Desk) {
	t.Helper()
	id := fmt.Sprintf("cause-%x", sha256.Sum256(fmt.Appendf(nil, "%+v", r)))
	a := d.Call("GET", r.path, r.token, "", "X-Request-Id", id)
	r.told(t, d, id, a)
}

// told is holds for a request that was sent.
func (r refusal) told(t *testing.T, d *rig.Desk, id string, a rig.Answer) {
	t.Helper()
	require.Equal(t, 401, a.Status, "%+v", r)
	require.Equal(t, r.body, strings.ReplaceAll(string(a.Body), id, "ID"), "%+v", r)
	require.Equal(t, []string{"Cache-Control", "Content-Length", "Content-Type", "Date", "Link", "X-Content-Type-Options", "X-Request-Id"}, slices.Sorted(maps.Keys(a.Header)), "%+v", r)
	line := d.Accessed(id)
	require.Equal(t, string(r.cause), line.Cause, "%+v", r)
	require.Equal(t, r.key, line.Key, "%+v", r)
	require.Equal(t, r.client, line.Client, "%+v", r)
}

// refusalsCounted are the refusals that the metrics tell of, once there are so many: key, reason and
// how many. They are counted behind the answers.
func refusalsCounted(d *rig.Desk, many int) (all [][]string) {
	await.True(d.T, func() bool {
		all = nil
		sum := 0
		for _, found := range regexp.MustCompile(`frontdesk_refusals_total\{key="(.*)",reason="(.*)",status="4\d\d"\} (\d+)`).FindAllStringSubmatch(d.OpsText("/metrics"), -1) {
			all, sum = append(all, found[1:]), sum+must.Have(strconv.Atoi(found[3]))(d.T)
		}
		return sum >= many
	}, "%d refusals", many)
	return all
}

// The api_keys of TestCauses, by what becomes of them.
const (
	goneKey    = "aaaaaaaa-0000-4000-8000-000000000001"
	endingKey  = "aaaaaaaa-0000-4000-8000-000000000002"
	endedKey   = "aaaaaaaa-0000-4000-8000-000000000003"
	unknownKey = "55555555-5555-4555-8555-555555555555"
)

// TestCauses: the access line of each 401 tells why, of whose api_key and of whose client, and
// the answer tells what it always has.
func TestCauses(t *testing.T) {
	t.Parallel()
	dsn := rig.Engines[0].DSN(t)
	always := rig.KeptKey(`"GET /order"`) + rig.KeyConfig("ended", endedKey, "    expires: 2026-01-01\n")
	k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), rig.KeptConfig(t, dsn, "", always+
		rig.KeyConfig("gone", goneKey, "")+rig.KeyConfig("ending", endingKey, "")+bound()), false)
	users := must.Have(rig.OpenAdministration(dsn))(t)
	defer func() { require.NoError(t, users.Close()) }()
	for _, name := range []string{"piet", "kees"} {
		_, err := users.AddUser(t.Context(), reference.NewUser{Username: name, Password: name + "-password", Email: name + "@example.nl", Client: "Garage " + name})
		require.NoError(t, err)
	}
	blocked, renewed := k.LoginAs(rig.FullKey, "piet", "piet-password"), k.LoginAs(rig.FullKey, "kees", "kees-password")
	out, gone, ending, elsewhere := k.Login(rig.FullKey, "other"), k.Login(goneKey, "demo"), k.Login(endingKey, "other"), k.Login(boundKey, "demo")
	require.Equal(t, 200, k.Status("GET", "/authenticate/logout", out))
	require.NoError(t, users.SetBlocked(t.Context(), "piet", true))
	require.NoError(t, users.SetPassword(t.Context(), "kees", "a hash"))
	k.Looked()
	k.Write(rig.KeptConfig(t, dsn, "", always+rig.KeyConfig("ending", endingKey, "    expires: 2026-01-02\n")+bound("addresses: [192.0.2.0/24]")))
	k.HangUp()

	const demo, other = reference.DemoClient, reference.OtherClient
	login := rig.LoginPath
	all := []refusal{
		{"/order", "", notLoggedIn, auth.CauseNone, "", ""},
		{"/order", "nonsense", tokenInvalid, auth.CauseMalformed, "", ""},
		{"/order", unknownKey, tokenInvalid, auth.CauseUnknown, "", ""},
		{"/order", out, tokenInvalid, auth.CauseLoggedOut, "full", other},
		{"/authenticate", out, tokenInvalid, auth.CauseLoggedOut, "full", other},
		{"/order", blocked, tokenInvalid, auth.CauseUserBlocked, "full", "Garage piet"},
		{"/order", renewed, tokenInvalid, auth.CauseNewPassword, "full", "Garage kees"},
		{"/order", gone, tokenInvalid, auth.CauseKeyRevoked, "gone", demo},
		{"/order", ending, tokenInvalid, auth.CauseKeyExpired, "ending", other},
		{"/order", elsewhere, tokenInvalid, auth.CauseAddress, "bound", demo},

		{login(rig.FullKey, "demo", "wrong"), "", credentialsInvalid, auth.CauseWrongPassword, "full", demo},
		{login(rig.FullKey, "nobody", "demo"), "", credentialsInvalid, auth.CauseUnknownUser, "full", ""},
		{login(rig.FullKey, "piet", "piet-password"), "", credentialsInvalid, auth.CauseUserBlocked, "full", "Garage piet"},
		{login(rig.FullKey, "piet", "wrong"), "", credentialsInvalid, auth.CauseUserBlocked, "full", "Garage piet"},
		{login(goneKey, "demo", "demo"), "", credentialsInvalid, auth.CauseKeyUnknown, "", demo},
		{login(unknownKey, "nobody", "demo"), "", credentialsInvalid, auth.CauseKeyUnknown, "", ""},
		{login("nonsense", "demo", "demo"), "", credentialsInvalid, auth.CauseKeyMalformed, "", demo},
		{login(endedKey, "other", "other"), "", credentialsInvalid, auth.CauseKeyExpired, "ended", other},
		{login(boundKey, "demo", "demo"), "", credentialsInvalid, auth.CauseAddress, "bound", demo},
	}
	causes := []auth.Cause{auth.CauseExpired, auth.CauseCertificate, auth.CauseUserUnusable} // below, and of sheets
	for _, r := range all {
		r.holds(t, &k.Desk)
		causes = append(causes, r.cause)
	}
	require.Equal(t, [][]string{
		{"", "credentials_invalid", "3"}, {"", "not_logged_in", "1"}, {"", "token_invalid", "3"},
		{"bound", "address", "2"}, {"ended", "credentials_invalid", "1"}, {"ending", "token_invalid", "1"}, {"full", "credentials_invalid", "4"}, {"full", "token_invalid", "4"},
	}, refusalsCounted(&k.Desk, len(all)), "by names of the configuration, and what the client sees")
	docs := rig.Read(t, rig.Repository(t, "docs", "causes.md"))
	for _, why := range causes {
		require.Contains(t, docs, fmt.Sprintf("\n| `%s` | ", why))
	}
	t.Run("expired", func(t *testing.T) {
		rig.InBubble(t, rig.Options{Extra: "sessions: {ttl: 2s}\n"}, func(t *testing.T, d *rig.Desk) {
			token := d.Login(rig.FullKey, "demo")
			time.Sleep(2 * time.Second)
			refusal{"/order", token, tokenInvalid, auth.CauseExpired, "full", demo}.holds(t, d)
		})
	})
	t.Run("certificate", func(t *testing.T) {
		s := startSecureDesk(t, func(*webhooktest.Authority) string {
			return bound(fmt.Sprintf("client_certificates: [\"%x\"]", sha256.Sum256(nil)))
		})
		a := s.mustAsk(s.with(), login(boundKey, "demo", "demo"), "")
		refusal{"", "", credentialsInvalid, auth.CauseCertificate, "bound", demo}.told(t, s.Desk, a.Header.Get("X-Request-Id"), a)
	})
}
