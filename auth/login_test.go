package auth_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/mapping"
)

type desk struct {
	*auth.Login
	accounts *accounts
	sessions *sessions
	clock    *authtest.Clock
	keys     *auth.Keyring
	logs     *observer.ObservedLogs
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	d := &desk{accounts: newAccounts(), clock: authtest.NewClock()}
	require.NoError(t, d.accounts.enroll(t.Context()))
	memory := auth.NewMemory(d.clock.Now)
	t.Cleanup(func() { require.NoError(t, memory.Close()) })
	d.sessions = &sessions{Sessions: memory}
	d.keys = ring(t,
		auth.Key{Name: "webshop", Hashes: []auth.KeyHash{{Hash: sum(keyA)}}},
		auth.Key{Name: "old", Hashes: []auth.KeyHash{{Hash: sum(keyB)}}, Expires: d.clock.Now()})
	core, logs := observer.New(zap.DebugLevel)
	d.logs = logs
	login, err := auth.NewLogin(auth.LoginConfig{
		Verifier: d.accounts,
		Sessions: d.sessions,
		Throttle: auth.NewThrottle(auth.NewMemoryGuessCounter(), d.clock.Now, func(context.Context, time.Duration) error { return nil }),
		Queue:    auth.NewLoginQueue(auth.LoginsAtOnce, d.clock.Now),
		TTL:      20 * time.Minute,
		Vendor:   "Example",
		Clock:    d.clock.Now,
		Random:   rand.Reader,
		Log:      zap.New(core),
	})
	require.NoError(t, err)
	d.Login = login
	return d
}

func (d *desk) try(apiKey, username, password string) auth.Attempt {
	hash, _ := auth.HashKey(apiKey)
	return auth.Attempt{Key: d.keys.Find(apiKey, d.clock.Now()), KeyHash: hash, Username: username, Password: password, Address: "192.0.2.1"}
}

func TestLoginOpensASession(t *testing.T) {
	d := newDesk(t)
	text, s, err := d.Authenticate(t.Context(), d.try(keyA, "anna", "anna"))
	require.NoError(t, err)
	id, err := uuid.Parse(text)
	require.NoError(t, err)
	require.EqualValues(t, 4, id.Version())
	require.Equal(t, "anna", s.User.Username)
	require.Equal(t, sum(keyA), s.Key)
	require.Equal(t, d.clock.Now().Add(20*time.Minute), s.Expires)

	hash, ok := auth.HashToken(text)
	require.True(t, ok)
	kept, err := d.sessions.Get(t.Context(), hash)
	require.NoError(t, err)
	require.Equal(t, s, *kept)
	require.Equal(t, "webshop", d.keys.ByHash(kept.Key, d.clock.Now()).Name)

	second, _, err := d.Authenticate(t.Context(), d.try(keyA, "anna", "anna"))
	require.NoError(t, err)
	require.NotEqual(t, text, second)
	_, err = d.sessions.Get(t.Context(), hash)
	require.NoError(t, err, "several tokens live at once")
}

func TestLoginRefuses(t *testing.T) {
	d := newDesk(t)
	tests := []struct {
		name    string
		attempt auth.Attempt
		want    *mapping.Error
	}{
		{"unknown key", d.try("cccccccc-3333-4333-8333-333333333333", "anna", "anna"), mapping.Fail(mapping.CredentialsInvalid)},
		{"expired key", d.try(keyB, "anna", "anna"), mapping.Fail(mapping.CredentialsInvalid)},
		{"malformed key", d.try("key", "anna", "anna"), mapping.Fail(mapping.CredentialsInvalid)},
		{"unknown user", d.try(keyA, "nobody", "nobody"), mapping.Fail(mapping.CredentialsInvalid)},
		{"wrong password", d.try(keyA, "anna", "Anna"), mapping.Fail(mapping.CredentialsInvalid)},
		{"blocked user", d.try(keyA, "blocked", "blocked"), mapping.Fail(mapping.CredentialsInvalid)},
		{"external user, wrong password", d.try(keyA, "external", "x"), mapping.Fail(mapping.CredentialsInvalid)},
		{"external user, wrong key", d.try(keyB, "external", "external"), mapping.Fail(mapping.CredentialsInvalid)},
		{"external user", d.try(keyA, "external", "external"), mapping.Fail(mapping.ExternalUser, "Example")},
		{"no e-mail", d.try(keyA, "noemail", "noemail"), mapping.Fail(mapping.EmailMissing, "noemail")},
		{"invalid e-mail", d.try(keyA, "bademail", "bademail"), mapping.Fail(mapping.EmailInvalid, "bad@")},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			token, s, err := d.Authenticate(t.Context(), test.attempt)
			var refused *mapping.Error
			require.ErrorAs(t, err, &refused)
			require.Equal(t, test.want.Reason, refused.Reason)
			require.Equal(t, test.want.Args, refused.Args)
			require.Empty(t, token)
			require.Zero(t, s)
			require.Equal(t, i+1, d.accounts.tries(), "each spends the verification")
		})
	}
}

func TestLoginIsThrottledBeforeThePassword(t *testing.T) {
	d := newDesk(t)
	for n := range 10 {
		want := mapping.CredentialsInvalid
		if n == 9 {
			want = mapping.TooManyRequests
		}
		_, _, err := d.Authenticate(t.Context(), d.try(keyA, "anna", "wrong"))
		require.Equal(t, want, reason(t, err))
	}
	_, _, err := d.Authenticate(t.Context(), d.try(keyA, "anna", "anna"))
	require.Equal(t, mapping.TooManyRequests, reason(t, err))
	require.Equal(t, 10, d.accounts.tries())

	elsewhere := d.try(keyA, "anna", "anna")
	elsewhere.Address = "192.0.2.2"
	_, _, err = d.Authenticate(t.Context(), elsewhere)
	require.NoError(t, err)
	d.clock.Advance(15 * time.Minute)
	_, _, err = d.Authenticate(t.Context(), d.try(keyA, "anna", "anna"))
	require.NoError(t, err)
}

func TestLoginPassesFailuresOnAndCountsThemForNobody(t *testing.T) {
	d := newDesk(t)
	down := errors.New("it is down")
	d.accounts.fail = down
	for range 20 {
		_, _, err := d.Authenticate(t.Context(), d.try(keyA, "anna", "anna"))
		require.ErrorIs(t, err, down)
		_, isViolation := mapping.AsViolations(err)
		require.False(t, isViolation)
	}
	d.accounts.fail = nil
	_, _, err := d.Authenticate(t.Context(), d.try(keyA, "anna", "anna"))
	require.NoError(t, err)

	d.sessions.fail = down
	_, _, err = d.Authenticate(t.Context(), d.try(keyA, "anna", "anna"))
	require.ErrorIs(t, err, down)
	_, isViolation := mapping.AsViolations(err)
	require.False(t, isViolation)
}

// sessions is a store that can be made to fail.
type sessions struct {
	auth.Sessions
	fail error
}

func (s *sessions) Put(ctx context.Context, put *auth.Session) error {
	if s.fail != nil {
		return s.fail
	}
	return s.Sessions.Put(ctx, put)
}

func TestLoginOvertakenByANewPasswordOpensNothing(t *testing.T) {
	d := newDesk(t)
	d.accounts.during = func() {
		d.clock.Advance(time.Millisecond)
		require.NoError(t, d.sessions.EndUser(t.Context(), "anna", auth.CauseNewPassword))
	}
	_, _, err := d.Authenticate(t.Context(), d.try(keyA, "anna", "anna"))
	require.Equal(t, mapping.CredentialsInvalid, reason(t, err))
	var refused *auth.Refused
	require.ErrorAs(t, err, &refused)
	require.Equal(t, auth.Refused{Why: auth.CauseNewPassword, Client: auth.Client{ID: 1, Name: "Garage"}}, *refused)
}

func TestLoginTogether(t *testing.T) {
	d := newDesk(t)
	var all sync.WaitGroup
	for n := range 24 {
		all.Go(func() {
			_, _, err := d.Authenticate(context.Background(), d.try(keyA, "anna", "anna"))
			for mapping.Is(err, mapping.TooManyRequests) { // on a machine that is slow enough
				_, _, err = d.Authenticate(context.Background(), d.try(keyA, "anna", "anna"))
			}
			if err != nil {
				t.Errorf("login %d: %v", n, err)
			}
		})
	}
	all.Wait()
}

func TestLoginTellsNoSecrets(t *testing.T) {
	d := newDesk(t)
	attempt := d.try(keyA, "anna-typed-it-here", "hunter22")
	for range 12 {
		_, _, err := d.Authenticate(t.Context(), attempt)
		require.Error(t, err)
		require.NotContains(t, err.Error(), "anna")
	}
	require.Equal(t, 3, d.logs.Len(), "of those that were too many")
	for _, entry := range d.logs.All() {
		line := entry.Message + fmt.Sprint(entry.ContextMap())
		for _, secret := range []string{keyA, "anna", "hunter22"} {
			require.NotContains(t, line, secret)
		}
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		text := fmt.Sprintf(verb+verb, attempt, auth.Credentials{Username: "anna", Password: "hunter22"})
		require.NotContains(t, text, "hunter22")
	}
}

func TestNewLoginBoundsTheLifetime(t *testing.T) {
	for ttl, good := range map[time.Duration]bool{
		-1: false, 0: false, time.Second: true, auth.MaxTTL: true, auth.MaxTTL + 1: false,
	} {
		_, err := auth.NewLogin(auth.LoginConfig{TTL: ttl})
		require.Equal(t, good, err == nil, ttl)
	}
}
