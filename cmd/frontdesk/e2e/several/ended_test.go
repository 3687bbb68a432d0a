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
)

// ends are gateways of one service that look whose sessions have ended when they are told
// to, each with an address of its own that leads to the store of sessions.
type ends struct {
	*testing.T
	dsn      string
	users    *reference.Store
	gateways []*rig.Kept
	ways     []*redistest.Floating
}

func startEnds(t *testing.T, n int, store *redistest.Redis) *ends {
	t.Helper()
	e := &ends{T: t, dsn: rig.Engines[1].DSN(t)}
	mail := regexp.MustCompile(`mail: \{folder: "([^"]*)"\}`)
	for range n {
		way := redistest.Float(t, store)
		text := rig.KeptConfig(t, e.dsn, fmt.Sprintf("sessions: {store: %q}", way.URL()), rig.KeptKey(`"GET /order"`))
		k := rig.StartKept(t, filepath.Join(t.TempDir(), "frontdesk.yaml"), text, false)
		k.Mail = mail.FindStringSubmatch(text)[1]
		e.gateways, e.ways = append(e.gateways, k), append(e.ways, way)
	}
	var err error
	e.users, err = rig.OpenAdministration(e.dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.users.Close()) })
	return e
}

// looked has every gateway look.
func (e *ends) looked() {
	e.Helper()
	for _, k := range e.gateways {
		k.Looked()
	}
}

// out wants a token refused by every gateway, for that cause.
func (e *ends) out(token, cause, what string) {
	e.Helper()
	for n, k := range e.gateways {
		a := k.Call("GET", "/order", token, "")
		require.Equal(e, 401, a.Status, "gateway %d: %s", n, what)
		require.Equal(e, cause, k.Accessed(a.Failure(e).RequestID).Cause, "gateway %d: %s", n, what)
	}
}

// in wants a token served by every gateway.
func (e *ends) in(token, what string) {
	e.Helper()
	for n, k := range e.gateways {
		require.Equal(e, 200, k.Status("GET", "/order", token), "gateway %d: %s", n, what)
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
func (e *ends) failOver(to *redistest.Redis) {
	e.Helper()
	for n, way := range e.ways {
		way.Cut()
		way.Move(to)
		await.True(e, func() bool { return e.gateways[n].AskOps("/readyz").Status == 200 })
	}
}

// login logs in as demo after a failover, of which a gateway learns by what it asks over
// each of its connections.
func (e *ends) login(k *rig.Kept, password string) (token string) {
	e.Helper()
	await.True(e, func() bool {
		var session struct{ Token string }
		a := k.Call("GET", rig.LoginPath(rig.FullKey, "demo", password), "", "")
		require.NoError(e, json.Unmarshal(a.Body, &session))
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
	e := startEnds(t, 3, store)
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

// TestPasswordByCommandEndsSessions: one that the operator sets ends them too.
func TestPasswordByCommandEndsSessions(t *testing.T) {
	t.Parallel()
	e := startEnds(t, 2, redistest.Start(t))
	token := e.gateways[0].Login(rig.FullKey, "demo")
	code, out, problems := rig.Command(t, "another password\n", "user", "passwd", "demo", "--config", e.gateways[0].File)
	require.Zero(t, code, problems)
	require.Regexp(t, `^user demo in \S+ has the new password; open sessions have ended\n$`, out)
	e.looked()
	e.out(token, "new_password", "of before")
	e.in(e.gateways[1].LoginAs(rig.FullKey, "demo", "another%20password"), "of after")
}

// TestBlockSurvivesFailover: who is blocked stays out when the store of sessions fails over to a
// replica that lags, and when he is unblocked before anybody has looked.
func TestBlockSurvivesFailover(t *testing.T) {
	t.Parallel()
	store := redistest.Start(t)
	e := startEnds(t, 2, store)
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
