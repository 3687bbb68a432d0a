package several

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// shared are gateways of one service, each with its own files of api_keys, and an address of its own that
// leads to the store of sessions. Nothing passes a timer of theirs but the test: what is so without that,
// is so at once.
type shared struct {
	*testing.T
	dsn      string
	users    *reference.Store
	gateways []*rig.Kept
	files    []string // of the api_key full
	ways     []*redistest.Floating
}

func startShared(t *testing.T, n int, store *redistest.Redis) *shared {
	t.Helper()
	s := &shared{T: t, dsn: rig.Engines[1].DSN(t)}
	for range n {
		way, file := redistest.Float(t, store), filepath.Join(t.TempDir(), "frontdesk.yaml")
		whole := rig.KeptConfig(t, s.dsn, fmt.Sprintf("sessions: {store: %q}", way.URL()), rig.KeptKey(`"GET /order", "GET /contact"`)+rig.KeptOrders)
		k := rig.StartKept(t, file, rig.KeysApart(t, file, whole), false)
		k.Mail = regexp.MustCompile(`mail: \{folder: "([^"]*)"\}`).FindStringSubmatch(whole)[1]
		s.gateways, s.ways = append(s.gateways, k), append(s.ways, way)
		s.files = append(s.files, filepath.Join(filepath.Dir(file), "keys.d", "full.yaml"))
	}
	s.users = must.Have(rig.OpenAdministration(s.dsn))(t)
	t.Cleanup(func() { require.NoError(t, s.users.Close()) })
	return s
}

// looked has every gateway look.
func (s *shared) looked() {
	s.Helper()
	for _, k := range s.gateways {
		k.Looked()
	}
}

// out wants a token refused by every gateway, for that cause; and what else is asked of them.
func (s *shared) out(token, cause, what string, paths ...string) {
	s.Helper()
	for n, k := range s.gateways {
		for _, path := range append(paths, "/order") {
			a := k.Call("GET", path, token, "")
			require.Equal(s, 401, a.Status, "gateway %d, %s: %s", n, path, what)
			require.Regexp(s, "^("+cause+")$", k.Accessed(a.Failure(s).RequestID).Cause, "gateway %d, %s: %s", n, path, what)
		}
	}
}

// in wants a token served by every gateway.
func (s *shared) in(token, what string) {
	s.Helper()
	for n, k := range s.gateways {
		require.Equal(s, 200, k.Status("GET", "/order", token), "gateway %d: %s", n, what)
	}
}

// lagging is a replica of a store that gets no more from it.
func lagging(t *testing.T, store *redistest.Redis) *redistest.Redis {
	t.Helper()
	replica := redistest.Start(t)
	store.Command("CONFIG", "SET", "repl-diskless-sync-delay", "0")
	replica.Follow(store)
	store.Command("WAIT", "1", "0")
	replica.Command("REPLICAOF", "NO", "ONE")
	return replica
}

// failOver leads every gateway to another store.
func (s *shared) failOver(to *redistest.Redis) {
	s.Helper()
	for n, way := range s.ways {
		way.Cut()
		way.Move(to)
		await.True(s, func() bool { return s.gateways[n].AskOps("/readyz").Status == 200 })
	}
}

// login logs in as demo after a failover, of which a gateway learns by what it asks over
// each of its connections.
func (s *shared) login(k *rig.Kept, password string) (token string) {
	s.Helper()
	await.True(s, func() bool {
		var session struct{ Token string }
		a := k.Call("GET", rig.LoginPath(rig.FullKey, "demo", password), "", "")
		require.NoError(s, json.Unmarshal(a.Body, &session))
		token = session.Token
		return a.Status == 200
	})
	return token
}

// TestNewPasswordEndsSessions: whoever set a new password by a mailed link is told so once the
// administration has it, and from the next look on every gateway refuses the sessions of before,
// though nobody could tell the store of sessions, and whatever that says later.
func TestNewPasswordEndsSessions(t *testing.T) {
	t.Parallel()
	store := redistest.Start(t)
	e := startShared(t, 3, store)
	stolen, other := e.gateways[0].Login(rig.FullKey, "demo"), e.gateways[0].Login(rig.FullKey, "other")
	e.in(stolen, "nothing has changed yet")
	replica := lagging(t, store)

	cut := e.gateways[1]
	p := &rig.Practice{T: t, Desk: &cut.Desk, Token: other}
	require.Equal(t, 200, cut.Call("POST", "/authenticate/forgotpassword", stolen, `{"username":"demo"}`).Status)
	link := regexp.MustCompile(`reset=([A-Za-z0-9_-]+)`).FindStringSubmatch(p.Letter())
	e.ways[1].Cut()
	const password = "a new password"
	require.Equal(t, 200, p.Submit(link[1], password, password).Status)
	require.Equal(t, 400, p.Submit(link[1], password, password).Status, "the link works once")
	cut.Told("the store of sessions could not be told")
	e.failOver(store)

	e.looked()
	e.out(stolen, "new_password", "the store has it still")
	e.in(other, "somebody else's")
	again := e.login(e.gateways[2], "a%20new%20password")
	e.in(again, "a session of the new password")
	e.failOver(replica)
	e.out(stolen, "new_password", "a store of before the new password")
	e.in(other, "somebody else's")
	replica.Command("FLUSHALL")
	e.out(stolen, "unknown", "a store that came back empty")
}

// TestCommandsEndSessions: one that sets a password, or blocks a user, ends the sessions at once where
// gateways share them.
func TestCommandsEndSessions(t *testing.T) {
	t.Parallel()
	s := startShared(t, 2, redistest.Start(t))
	first, second := s.gateways[0].Login(rig.FullKey, "demo"), s.gateways[1].Login(rig.FullKey, "demo")
	command := func(input, what, told string) {
		t.Helper()
		code, out, problems := rig.Command(t, input, "user", what, "demo", "--config", s.gateways[0].File)
		require.Zero(t, code, problems)
		require.Regexp(t, told, out)
	}
	command("another password\n", "passwd", `^user demo in \S+ has the new password; open sessions have ended\n$`)
	s.looked()
	s.out(first, "new_password", "of before")
	s.out(second, "new_password", "of before, at another gateway")
	after := s.gateways[1].LoginAs(rig.FullKey, "demo", "another%20password")
	s.in(after, "of after")
	command("", "block", `no login succeeds any more; open sessions have ended\n`)
	s.out(after, ".*", "blocked", rig.LoginPath(rig.FullKey, "demo", "another%20password"))
}

// TestBlockSurvivesFailover: who is blocked stays out when the store of sessions fails over to a
// replica that lags, and when he is unblocked before anybody has looked.
func TestBlockSurvivesFailover(t *testing.T) {
	t.Parallel()
	store := redistest.Start(t)
	e := startShared(t, 2, store)
	token := e.gateways[0].Login(rig.FullKey, "demo")
	e.in(token, "nobody is blocked")
	replica := lagging(t, store)
	require.NoError(t, e.users.SetBlocked(t.Context(), "demo", true))
	e.looked()
	e.out(token, "user_blocked", "he is blocked")
	e.failOver(replica)
	e.out(token, "user_blocked", "the replica knows of nothing")
	e.looked()
	e.out(token, "user_blocked", "the replica knows of nothing, looked at again")

	require.NoError(t, e.users.SetBlocked(t.Context(), "demo", false))
	again := e.login(e.gateways[0], "demo")
	e.in(again, "he may log in before anybody has looked")
	e.out(token, "user_blocked", "his session of before is none")
	e.looked()
	e.in(again, "he is blocked no more")
	e.out(token, "user_blocked", "his session of before is none")

	require.NoError(t, e.users.SetBlocked(t.Context(), "demo", true))
	require.NoError(t, e.users.SetBlocked(t.Context(), "demo", false))
	e.looked()
	e.out(again, "user_blocked", "he was, for a moment")

	late := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"),
		rig.KeptConfig(t, e.dsn, fmt.Sprintf("sessions: {store: %q}", replica.URL()), rig.KeptKey(`"GET /order"`)), false)
	require.Equal(t, 401, late.Status("GET", "/order", again), "a gateway that starts has looked before it serves")
}
