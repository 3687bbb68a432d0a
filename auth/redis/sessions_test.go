package redis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/auth/redis"
	"frontdesk/auth/redis/redistest"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestMain lets rueidis sleep: a client that is closed while it waits to look for its
// cluster again wakes up within a second, and ends. Where no server is installed the
// tests are over before.
func TestMain(m *testing.M) {
	await.Run(m, goleak.IgnoreAnyFunction("github.com/redis/rueidis.(*call).DelayDo.func1"))
}

func open(t *testing.T, o redis.Options) *redis.Client {
	t.Helper()
	client := must.Have(redis.Open(o))(t)
	t.Cleanup(client.Close)
	return client
}

func TestSessions(t *testing.T) {
	t.Parallel()
	authtest.Sessions(t, func(t *testing.T, clock func() time.Time) auth.Sessions {
		return redis.NewSessions(open(t, redis.Options{URL: redistest.Start(t).URL()}), clock).Patient()
	})
}

func session(clock *authtest.Clock) *auth.Session {
	return &auth.Session{
		Token: auth.TokenHash{1}, Key: [32]byte{2}, User: auth.User{ID: 1, Username: "anna"},
		Issued: clock.Now(), Expires: clock.Now().Add(auth.MaxTTL),
	}
}

// TestSessionsReadWhatIsThere: a session that was read before is read anew when the
// server keeps another one under its token.
func TestSessionsReadWhatIsThere(t *testing.T) {
	t.Parallel()
	clock := authtest.NewClock()
	client := open(t, redis.Options{URL: redistest.Start(t).URL()})
	here, there := redis.NewSessions(client, clock.Now), redis.NewSessions(client, clock.Now)
	s := session(clock)
	for _, name := range []string{"anna", "bert"} {
		s.User.Username = name
		require.NoError(t, there.Put(t.Context(), s))
		for range 2 {
			found := must.Have(here.Get(t.Context(), s.Token))(t)
			require.Equal(t, name, found.User.Username)
		}
	}
	require.NoError(t, there.End(t.Context(), s, auth.CauseLoggedOut))
	require.ErrorIs(t, must.Fail(here.Get(t.Context(), s.Token)), auth.ErrNoSession)
}

// TestSessionsForgetTokens: a user who logs in time and again has no more tokens
// kept than live sessions.
func TestSessionsForgetTokens(t *testing.T) {
	t.Parallel()
	clock := authtest.NewClock()
	client := open(t, redis.Options{URL: redistest.Start(t).URL()})
	sessions := redis.NewSessions(client, clock.Now)
	for n := range byte(20) {
		s := session(clock)
		s.Token = auth.TokenHash{n}
		require.NoError(t, sessions.Put(t.Context(), s))
		clock.Advance(auth.MaxTTL / 2)
	}
	kept := must.Have(client.Do(t.Context(), client.B().Zcard().Key("frontdesk:tokens:anna").Build()).AsInt64())(t)
	require.EqualValues(t, 2, kept)
}

// TestEndKey: the sessions of an api_key that is ended end at every gateway, and so does a login under way;
// those of others live on.
func TestEndKey(t *testing.T) {
	t.Parallel()
	clock := authtest.NewClock()
	client := open(t, redis.Options{URL: redistest.Start(t).URL()})
	here, there := redis.NewSessions(client, clock.Now).Patient(), redis.NewSessions(client, clock.Now).Patient()
	mine, other := session(clock), session(clock)
	other.Token, other.Key = auth.TokenHash{2}, [32]byte{3}
	for _, s := range []*auth.Session{mine, other} {
		require.NoError(t, there.Put(t.Context(), s))
	}
	require.NoError(t, here.EndKey(t.Context(), mine.Key))
	refused := func(err error) {
		t.Helper()
		var ended *auth.Ended
		require.ErrorAs(t, err, &ended)
		require.Equal(t, auth.CauseKeyRevoked, ended.Why)
	}
	_, err := there.Get(t.Context(), mine.Token)
	refused(err)
	refused(there.Put(t.Context(), mine))
	_, err = there.Get(t.Context(), mine.Token)
	refused(err)
	must.Have(there.Get(t.Context(), other.Token))(t)
	require.NoError(t, there.Put(t.Context(), other))

	require.NoError(t, here.ReviveKey(t.Context(), mine.Key))
	require.NoError(t, there.Put(t.Context(), mine))
}

// TestFullServer: one that takes nothing more lets nobody in, and still ends what
// there is.
func TestFullServer(t *testing.T) {
	t.Parallel()
	server, clock := redistest.Start(t), authtest.NewClock()
	client := open(t, redis.Options{URL: server.URL()})
	sessions := redis.NewSessions(client, clock.Now)
	first, second := session(clock), session(clock)
	second.Token = auth.TokenHash{2}
	for _, s := range []*auth.Session{first, second} {
		require.NoError(t, sessions.Put(t.Context(), s))
	}
	require.NoError(t, client.Do(t.Context(), client.B().ConfigSet().ParameterValue().ParameterValue("maxmemory", "1").Build()).Error())
	late := session(clock)
	late.Token = auth.TokenHash{3}
	require.ErrorContains(t, sessions.Put(t.Context(), late), "OOM")
	require.NoError(t, sessions.End(t.Context(), first, auth.CauseLoggedOut))
	require.ErrorContains(t, sessions.EndUser(t.Context(), "anna", auth.CauseNewPassword), "OOM", "a login under way may outlive it")
	for _, s := range []*auth.Session{first, second, late} {
		require.ErrorIs(t, must.Fail(sessions.Get(t.Context(), s.Token)), auth.ErrNoSession)
	}
}

func TestOpenHidesThePassword(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://user:canary@127.0.0.1:1/0", "http://user:canary@host", "redis://user:canary@host/x/y", "redis://user:canary@%zz"} {
		_, err := redis.Open(redis.Options{URL: url})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "canary")
	}
}

// TestTokensAreKeptHashed looks at what lies in the server.
func TestTokensAreKeptHashed(t *testing.T) {
	t.Parallel()
	server, clock := redistest.Start(t), authtest.NewClock()
	sessions := redis.NewSessions(open(t, redis.Options{URL: server.URL()}), clock.Now).Patient()
	const token = "aaaaaaaa-1111-4111-8111-111111111111"
	s := session(clock)
	var ok bool
	s.Token, ok = auth.HashToken(token)
	require.True(t, ok)
	require.NoError(t, sessions.Put(t.Context(), s))
	ended := session(clock)
	ended.Token = auth.TokenHash{9}
	require.NoError(t, sessions.End(t.Context(), ended, auth.CauseLoggedOut))
	client := open(t, redis.Options{URL: server.URL()})
	keys := must.Have(client.Do(t.Context(), client.B().Keys().Pattern("*").Build()).AsStrSlice())(t)
	require.Len(t, keys, 3)
	for _, key := range keys {
		require.NotContains(t, key, token)
		left := must.Have(client.Do(t.Context(), client.B().Pttl().Key(key).Build()).AsInt64())(t)
		require.Greater(t, left, int64(0), "%s is kept for ever", key)
		require.LessOrEqual(t, left, (auth.MaxTTL + auth.Remembered).Milliseconds(), key)
		if strings.HasPrefix(key, "frontdesk:session:") {
			require.Greater(t, left, auth.MaxTTL.Milliseconds(), "it is told of it that it has expired")
			value := must.Have(client.Do(t.Context(), client.B().Get().Key(key).Build()).ToString())(t)
			require.NotContains(t, value, token)
		}
	}
}

// TestTLS is a server that demands TLS and a password.
func TestTLS(t *testing.T) {
	t.Parallel()
	url, ca := redistest.StartTLS(t)
	clock := authtest.NewClock()
	keepsSessions(t, redis.NewSessions(open(t, redis.Options{URL: url, CAFile: ca}), clock.Now), clock)
	require.ErrorContains(t, must.Fail(redis.Open(redis.Options{URL: url})), "certificate", "an authority nobody trusts")
	require.ErrorContains(t, must.Fail(redis.Open(redis.Options{URL: strings.Replace(url, redistest.Password, "wrong", 1), CAFile: ca})), "WRONGPASS")
}

// TestSentinel: when the primary is lost, the sessions are where its replica is.
func TestSentinel(t *testing.T) {
	t.Parallel()
	url, failOver := redistest.StartSentinel(t)
	client, clock := open(t, redis.Options{URL: url}), authtest.NewClock()
	sessions := redis.NewSessions(client, clock.Now)
	s := session(clock)
	require.NoError(t, sessions.Put(t.Context(), s))
	require.NoError(t, client.Do(t.Context(), client.B().Wait().Numreplicas(1).Timeout(0).Build()).Error())
	failOver()
	await.True(t, func() bool {
		_, err := sessions.Get(t.Context(), s.Token)
		return err == nil
	}, "the session at its replica")
	keepsSessions(t, sessions, clock)
}

func TestCluster(t *testing.T) {
	t.Parallel()
	client, clock := open(t, redis.Options{URL: redistest.StartCluster(t)}), authtest.NewClock()
	sessions := redis.NewSessions(client, clock.Now)
	for n := range byte(64) { // spread over all slots
		s := session(clock)
		s.Token, s.User.Username = auth.TokenHash{n}, fmt.Sprint("anna", n%3)
		require.NoError(t, sessions.Put(t.Context(), s))
	}
	require.NoError(t, sessions.EndUser(t.Context(), "anna1", auth.CauseNewPassword))
	for n := range byte(64) {
		_, err := sessions.Get(t.Context(), auth.TokenHash{n})
		if n%3 == 1 {
			require.ErrorIs(t, err, auth.ErrNoSession)
		} else {
			require.NoError(t, err)
		}
	}
}

func keepsSessions(t *testing.T, sessions *redis.Sessions, clock *authtest.Clock) {
	t.Helper()
	s := session(clock)
	require.NoError(t, sessions.Put(t.Context(), s))
	found := must.Have(sessions.Get(t.Context(), s.Token))(t)
	require.Equal(t, s.User, found.User)
	require.NoError(t, sessions.End(t.Context(), s, auth.CauseLoggedOut))
	require.ErrorIs(t, must.Fail(sessions.Get(t.Context(), s.Token)), auth.ErrNoSession)
}
