package authtest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

// Opener returns an empty store that judges expiry by clock. It closes the store
// by t.Cleanup.
type Opener func(t *testing.T, clock func() time.Time) auth.Sessions

// Sessions is the suite that every session store passes.
func Sessions(t *testing.T, open Opener) {
	t.Helper()
	sessions(t, open, func(t *testing.T, f func(*testing.T)) { f(t) }, false)
}

// SessionsInBubble is Sessions for a store that looks at the time of a synctest bubble too.
func SessionsInBubble(t *testing.T, open Opener) {
	t.Helper()
	sessions(t, open, synctest.Test, true)
}

func sessions(t *testing.T, open Opener, within func(*testing.T, func(*testing.T)), bubble bool) {
	tests := []struct {
		name string
		run  func(t *testing.T, s auth.Sessions, clock *Clock)
	}{
		{"an unknown token is no session", unknown},
		{"what was put is got", roundTrip},
		{"what was put is a copy", copies},
		{"a session lives until its expiry exactly", expiry},
		{"an expired session is not put", expiredPut},
		{"a deleted session is gone", deletion},
		{"deleting twice is no error", deletionTwice},
		{"several sessions of one user live at once", several},
		{"ending a user ends all of its sessions and no other", endUser},
		{"an ended session tells why for half an hour", remembered},
		{"a login overtaken by the end of its user is refused", overtaken},
		{"a login after the end of its user is kept", afterEnd},
		{"the live sessions are listed, each once", listed},
		{"it is safe for concurrent use", concurrent},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			within(t, func(t *testing.T) {
				clock := NewClock()
				clock.bubble = bubble
				test.run(t, open(t, clock.Now), clock)
			})
		})
	}
}

// session returns the nth session of a user, issued now.
func session(clock *Clock, username string, n int) *auth.Session {
	now := clock.Now()
	return &auth.Session{
		Token: sha256.Sum256(fmt.Appendf(nil, "token %s %d", username, n)),
		Key:   sha256.Sum256([]byte("key")), KeyName: "webshop",
		User: auth.User{
			ID: 7, Username: username, Email: username + "@example.nl",
			Client: auth.Client{ID: 3, Name: "Garage Ünal"},
		},
		Issued:  now,
		Expires: now.Add(auth.MaxTTL),
	}
}

func put(t *testing.T, s auth.Sessions, put *auth.Session) {
	t.Helper()
	require.NoError(t, s.Put(t.Context(), put))
}

func live(t *testing.T, s auth.Sessions, want *auth.Session) {
	t.Helper()
	got, err := s.Get(t.Context(), want.Token)
	require.NoError(t, err)
	require.Equal(t, want.User, got.User)
}

func gone(t *testing.T, s auth.Sessions, token auth.TokenHash) {
	t.Helper()
	_, err := s.Get(t.Context(), token)
	require.ErrorIs(t, err, auth.ErrNoSession)
}

func unknown(t *testing.T, s auth.Sessions, _ *Clock) {
	gone(t, s, auth.TokenHash{})
	gone(t, s, auth.TokenHash{1})
}

func roundTrip(t *testing.T, s auth.Sessions, clock *Clock) {
	want := session(clock, "anna", 1)
	want.User.SessionsEnd = clock.Now().Add(-time.Hour).UTC()
	put(t, s, want)
	got, err := s.Get(t.Context(), want.Token)
	require.NoError(t, err)
	require.Equal(t, want.Token, got.Token)
	require.Equal(t, want.Key, got.Key)
	require.Equal(t, want.KeyName, got.KeyName)
	require.Equal(t, want.User, got.User)
	require.WithinDuration(t, want.Issued, got.Issued, 0)
	require.WithinDuration(t, want.Expires, got.Expires, 0)
}

func copies(t *testing.T, s auth.Sessions, clock *Clock) {
	mine := session(clock, "anna", 1)
	put(t, s, mine)
	mine.User.Username = "other"
	got, err := s.Get(t.Context(), mine.Token)
	require.NoError(t, err)
	require.Equal(t, "anna", got.User.Username)
}

func expiry(t *testing.T, s auth.Sessions, clock *Clock) {
	one := session(clock, "anna", 1)
	put(t, s, one)
	clock.Advance(auth.MaxTTL - time.Nanosecond)
	live(t, s, one)
	clock.Advance(time.Nanosecond)
	gone(t, s, one.Token)
}

func expiredPut(t *testing.T, s auth.Sessions, clock *Clock) {
	one := session(clock, "anna", 1)
	clock.Advance(auth.MaxTTL)
	put(t, s, one)
	gone(t, s, one.Token)
}

func deletion(t *testing.T, s auth.Sessions, clock *Clock) {
	one, two := session(clock, "anna", 1), session(clock, "anna", 2)
	put(t, s, one)
	put(t, s, two)
	require.NoError(t, s.End(t.Context(), one, auth.CauseLoggedOut))
	gone(t, s, one.Token)
	live(t, s, two)
}

func deletionTwice(t *testing.T, s auth.Sessions, clock *Clock) {
	one := session(clock, "anna", 1)
	put(t, s, one)
	require.NoError(t, s.End(t.Context(), one, auth.CauseLoggedOut))
	require.NoError(t, s.End(t.Context(), one, auth.CauseLoggedOut))
}

func several(t *testing.T, s auth.Sessions, clock *Clock) {
	one, two := session(clock, "anna", 1), session(clock, "anna", 2)
	put(t, s, one)
	put(t, s, two)
	live(t, s, one)
	live(t, s, two)
}

func endUser(t *testing.T, s auth.Sessions, clock *Clock) {
	one, two, other := session(clock, "anna", 1), session(clock, "anna", 2), session(clock, "annabel", 1)
	put(t, s, one)
	put(t, s, two)
	put(t, s, other)
	require.NoError(t, s.EndUser(t.Context(), "anna", auth.CauseNewPassword))
	gone(t, s, one.Token)
	gone(t, s, two.Token)
	live(t, s, other)
	require.NoError(t, s.EndUser(t.Context(), "nobody", auth.CauseNewPassword))
}

// remembered ends sessions in every way: those that end by themselves do so last.
func remembered(t *testing.T, s auth.Sessions, clock *Clock) {
	wants := map[auth.Cause]*auth.Session{}
	for n, why := range []auth.Cause{auth.CauseLoggedOut, auth.CauseNewPassword, auth.CauseExpired} {
		wants[why] = session(clock, string(why), n)
		put(t, s, wants[why])
	}
	known := func() {
		t.Helper()
		for why, one := range wants {
			var ended *auth.Ended
			_, err := s.Get(t.Context(), one.Token)
			require.ErrorIs(t, err, auth.ErrNoSession)
			require.ErrorAs(t, err, &ended, why)
			require.Equal(t, auth.Ended{KeyName: "webshop", Client: "Garage Ünal", Why: why}, *ended)
		}
	}
	forgot := func(why auth.Cause) {
		t.Helper()
		_, err := s.Get(t.Context(), wants[why].Token)
		require.ErrorIs(t, err, auth.ErrNoSession)
		require.False(t, errors.As(err, new(*auth.Ended)), why)
		delete(wants, why)
	}
	clock.Advance(auth.MaxTTL - time.Second)
	require.NoError(t, s.End(t.Context(), wants[auth.CauseLoggedOut], auth.CauseLoggedOut))
	require.NoError(t, s.EndUser(t.Context(), string(auth.CauseNewPassword), auth.CauseNewPassword))
	clock.Advance(time.Second)
	known()
	require.NoError(t, s.EndUser(t.Context(), string(auth.CauseExpired), auth.CauseNewPassword))
	known() // as before: the session had expired by then
	clock.Advance(auth.Remembered - time.Second - 1)
	known()
	clock.Advance(2)
	forgot(auth.CauseLoggedOut)
	forgot(auth.CauseNewPassword)
	clock.Advance(time.Second - 2)
	known()
	clock.Advance(2)
	forgot(auth.CauseExpired)
}

func overtaken(t *testing.T, s auth.Sessions, clock *Clock) {
	late := session(clock, "anna", 1)
	clock.Advance(time.Second)
	require.NoError(t, s.EndUser(t.Context(), "anna", auth.CauseNewPassword))
	require.ErrorIs(t, s.Put(t.Context(), late), auth.ErrNoSession)
	gone(t, s, late.Token)
}

func afterEnd(t *testing.T, s auth.Sessions, clock *Clock) {
	require.NoError(t, s.EndUser(t.Context(), "anna", auth.CauseNewPassword))
	clock.Advance(time.Second)
	next := session(clock, "anna", 1)
	put(t, s, next)
	live(t, s, next)
}

func concurrent(t *testing.T, s auth.Sessions, clock *Clock) {
	var all sync.WaitGroup
	for user := range 8 {
		all.Go(func() {
			ctx, name := context.Background(), fmt.Sprint("user", user)
			for n := range 25 {
				one := session(clock, name, n)
				if err := s.Put(ctx, one); err != nil {
					t.Errorf("put: %v", err)
				}
				if _, err := s.Get(ctx, one.Token); err != nil {
					t.Errorf("get: %v", err)
				}
				if err := s.End(ctx, one, auth.CauseLoggedOut); err != nil {
					t.Errorf("end: %v", err)
				}
			}
			if err := s.EndUser(ctx, name, auth.CauseNewPassword); err != nil {
				t.Errorf("end user: %v", err)
			}
		})
	}
	all.Wait()
}

// listed expects a lister to return the live sessions, and their last use where it notes uses.
func listed(t *testing.T, s auth.Sessions, clock *Clock) {
	lister, ok := s.(auth.SessionLister)
	require.True(t, ok)
	all := func() (found map[string]time.Time) {
		found = map[string]time.Time{}
		require.NoError(t, lister.EachSession(t.Context(), func(one *auth.Session, used time.Time) error {
			require.NotContains(t, found, one.ID())
			require.Equal(t, "webshop", one.KeyName)
			found[one.ID()] = used
			return nil
		}))
		return found
	}
	require.Empty(t, all())
	first, ended, short := session(clock, "demo", 1), session(clock, "demo", 2), session(clock, "jan", 3)
	short.Expires = clock.Now().Add(time.Minute)
	for _, one := range []*auth.Session{first, ended, short} {
		put(t, s, one)
	}
	require.Len(t, all(), 3)
	require.NoError(t, s.End(t.Context(), ended, auth.CauseEnded))
	clock.Advance(time.Minute)
	found := all()
	require.Len(t, found, 1, "one has ended, one has expired")
	before, there := found[first.ID()]
	require.True(t, there)
	live(t, s, first)
	if after := all()[first.ID()]; !before.IsZero() {
		require.Equal(t, clock.Now().Unix(), after.Unix())
		require.True(t, before.Before(after))
	}
	stop := errors.New("enough")
	require.ErrorIs(t, lister.EachSession(t.Context(), func(*auth.Session, time.Time) error { return stop }), stop)
}
