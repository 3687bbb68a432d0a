package desk

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
)

// TestKeyDigests: what api_keys say is compared, in whatever order.
func TestKeyDigests(t *testing.T) {
	key := func(name string, change func(*config.Key)) config.Key {
		k := config.Key{Name: name, Hashes: []config.KeyHash{{Hash: config.Digest{1}}}, Allow: []config.Rule{{Method: "GET", Path: "/order"}}}
		if change != nil {
			change(&k)
		}
		return k
	}
	of := func(keys ...config.Key) [2]string {
		a, b := keyDigests(&config.Config{APIKeys: keys})
		return [2]string{a, b}
	}
	first := of(key("a", nil), key("b", nil))
	require.Equal(t, first, of(key("b", nil), key("a", nil)), "in whatever order")
	for what, change := range map[string]func(*config.Key){
		"name": func(k *config.Key) { k.Name = "c" }, "hash": func(k *config.Key) { k.Hashes[0].Hash = config.Digest{2} }, "allow": func(k *config.Key) { k.Allow = nil },
		"expires": func(k *config.Key) { k.Expires = config.Expiry{Time: time.Unix(1, 0)} },
	} {
		now := of(key("a", nil), key("b", change))
		require.NotEqual(t, first[0], now[0], what)
		require.Equal(t, first[1], now[1], what)
	}
	for what, change := range map[string]func(*config.Key){
		"rate":       func(k *config.Key) { k.Rate = &config.Rate{PerSecond: 1, Burst: 2} },
		"concurrent": func(k *config.Key) { k.Concurrent = 3 }, "per_day": func(k *config.Key) { k.PerDay = 4 },
	} {
		now := of(key("a", nil), key("b", change))
		require.Equal(t, first[0], now[0], what)
		require.NotEqual(t, first[1], now[1], what)
	}
}

// TestLogKeyEnds: a key is told from 30 days before its end until it has come.
func TestLogKeyEnds(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	start := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	keys := []config.Key{
		{Name: "webshop", Expires: config.Expiry{Time: start.AddDate(0, 0, 40)}, Hashes: []config.KeyHash{{Hash: config.Digest{1}}}},
		{Name: "gone", Expires: config.Expiry{Time: start.AddDate(0, 0, -1)}, Hashes: []config.KeyHash{{Hash: config.Digest{2}}}},
		{Name: "stays", Hashes: []config.KeyHash{{Hash: config.Digest{3}}}},
	}
	for day := range 45 {
		logKeyEnds(keys, start.AddDate(0, 0, day), zap.New(core))
		told := logs.TakeAll()
		if day < 10 || day >= 40 {
			require.Empty(t, told, day)
			continue
		}
		require.Len(t, told, 1, day)
		require.Equal(t, "webshop", told[0].ContextMap()["key"])
		require.EqualValues(t, 40-day, told[0].ContextMap()["days_left"])
	}
}

// givenAccounts are those of a database that answers, or does not within the time it is given.
type givenAccounts struct {
	auth.Accounts
	answers chan []auth.UserEnd
}

func (g givenAccounts) EndedSessions(ctx context.Context, _ time.Duration) ([]auth.UserEnd, error) {
	select {
	case all := <-g.answers:
		return all, nil
	default:
		<-ctx.Done()
		return nil, ctx.Err()
	}
}

// TestWhoCannotTellWhoseSessionsEndedSaysSo: where the database does not answer in time, the log
// says once that sessions may go on, and those that were known to have ended have; /readyz says
// it after 30 seconds. A stop is no reason to say so.
func TestWhoCannotTellWhoseSessionsEndedSaysSo(t *testing.T) { synctest.Test(t, endsUnreadAreTold) }

func endsUnreadAreTold(t *testing.T) {
	core, told := observer.New(zap.InfoLevel)
	h := new(Desk)
	h.basis, h.config, h.common = &basis{log: zap.New(core), now: time.Now}, new(config.Config), &common{sessions: newEndedSessions(nil)}
	accounts := givenAccounts{answers: make(chan []auth.UserEnd, 1)}
	tables, _ := ownTables(t)
	h.system, h.keyEnds = &System{accounts: accounts}, &keyEnds{tables: tables, facts: keyFacts{}}
	look := func() { h.lookForEnded(t.Context(), endsUnread) }
	reasons := func() []string {
		var now Health
		h.judgeEnds(&now)
		return now.Reasons
	}
	accounts.answers <- []auth.UserEnd{{Username: "anna"}}
	look()
	require.Empty(t, reasons())
	look()
	require.Empty(t, reasons(), "for a moment")
	look()
	require.Equal(t, []string{"whose sessions have ended cannot be read since 2000-01-01T00:00:00Z: those of users who were blocked or have a new password, and of api_keys that were ended elsewhere, may live on; the log says why"}, reasons())
	require.Equal(t, 1, told.FilterMessageSnippet("whose sessions have ended cannot be read").Len(), "when it begins")
	require.Contains(t, h.common.sessions.known.Load().of, "anna")

	accounts.answers <- nil
	look()
	require.Empty(t, reasons())
	require.Equal(t, 1, told.FilterMessageSnippet("can be read again").Len())
	stopped, stop := context.WithCancel(t.Context())
	stop()
	h.lookForEnded(stopped, time.Hour)
	require.Equal(t, 2, told.Len())
}

// TestEndedSessionsAreRefused whatever the store says, by what the login read of the user.
func TestEndedSessionsAreRefused(t *testing.T) {
	now := time.Now()
	end, before := now.Add(-time.Minute), now.Add(-2*time.Minute)
	newPassword := auth.UserEnd{End: end, Why: auth.CauseNewPassword}
	for _, c := range []struct {
		name    string
		known   auth.UserEnd
		session auth.Session
		why     auth.Cause
	}{
		{"opened before", newPassword, auth.Session{KeyName: "k", Issued: before}, auth.CauseNewPassword},
		{"opened before, by a clock that is ahead", newPassword, auth.Session{KeyName: "k", Issued: now, User: auth.User{SessionsEnd: before}}, auth.CauseNewPassword},
		{"opened after, by a clock that is behind", newPassword, auth.Session{KeyName: "k", Issued: before, User: auth.User{SessionsEnd: end}}, ""},
		{"opened after a later one, which nobody has read yet", newPassword, auth.Session{KeyName: "k", Issued: now, User: auth.User{SessionsEnd: now}}, ""},
		{"blocked, and logged in again since", auth.UserEnd{Blocked: true, End: end, Why: auth.CauseUserBlocked}, auth.Session{KeyName: "k", Issued: now, User: auth.User{SessionsEnd: end}}, ""},
		{"blocked by a statement", auth.UserEnd{Blocked: true}, auth.Session{KeyName: "k", Issued: before}, auth.CauseUserBlocked},
		{"blocked again by a statement", auth.UserEnd{Blocked: true, End: end, Why: auth.CauseNewPassword}, auth.Session{KeyName: "k", Issued: before, User: auth.User{SessionsEnd: end}}, auth.CauseUserBlocked},
	} {
		t.Run(c.name, func(t *testing.T) {
			memory := auth.NewMemory(time.Now)
			defer func() { require.NoError(t, memory.Close()) }()
			e := newEndedSessions(memory)
			c.known.Username, c.session.User.Username, c.session.Expires = "anna", "anna", now.Add(time.Hour)
			c.session.User.Client.Name = "Garage"
			other := c.session
			other.User.Username, other.Token = "bert", auth.TokenHash{2}
			require.NoError(t, e.Put(t.Context(), &c.session))
			require.NoError(t, e.Put(t.Context(), &other))
			e.know(now, []auth.UserEnd{c.known})
			_, err := e.Get(t.Context(), other.Token)
			require.NoError(t, err)
			_, err = e.Get(t.Context(), c.session.Token)
			again := e.Put(t.Context(), &c.session)
			if c.why == "" {
				require.NoError(t, errors.Join(err, again))
				return
			}
			for _, err := range []error{err, again} {
				require.ErrorIs(t, err, auth.ErrNoSession)
				require.Equal(t, &auth.Ended{KeyName: c.session.KeyName, Client: "Garage", Why: c.why}, err)
			}
		})
	}
}

// TestCountsAreNotWaitedFor: who asks for numbers that somebody else is counting, by a
// database that hangs, waits as long as he wants to. Before, /readyz waited for as long as
// the other one did.
func TestCountsAreNotWaitedFor(t *testing.T) {
	counting := make(chan struct{})
	c := newCached(func(ctx context.Context) (int, error) {
		close(counting)
		<-ctx.Done()
		return 0, ctx.Err()
	}, time.Now)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := c.now(ctx)
		ended <- err
	}()
	<-counting

	impatient, enough := context.WithCancel(t.Context())
	enough()
	require.ErrorIs(t, must.Fail(c.now(impatient)), context.Canceled)
	end()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// TestCountThatWasBrokenOff: who hangs up, or is out of time, leaves it to the next one to
// count; that the database fails everybody is told for a while. Before, a probe that hung up left
// out the numbers of all scrapes for ten seconds.
func TestCountThatWasBrokenOff(t *testing.T) {
	now := time.Unix(0, 0).Add(time.Hour)
	var count func(context.Context) (int, error)
	c := newCached(func(ctx context.Context) (int, error) { return count(ctx) }, func() time.Time { return now })
	probe, hangUp := context.WithCancel(t.Context())
	count = func(ctx context.Context) (int, error) {
		hangUp()
		return 0, ctx.Err()
	}
	require.ErrorIs(t, must.Fail(c.now(probe)), context.Canceled)

	broken := errors.New("broken")
	count = func(context.Context) (int, error) { return 0, broken }
	require.ErrorIs(t, must.Fail(c.now(t.Context())), broken)
	count = func(context.Context) (int, error) { return 7, nil }
	require.ErrorIs(t, must.Fail(c.now(t.Context())), broken)
	now = now.Add(countsLife)
	n := must.Have(c.now(t.Context()))(t)
	require.Equal(t, 7, n)
}

// TestLongestSession: the configuration allows what the stores keep.
func TestLongestSession(t *testing.T) { require.Equal(t, auth.MaxTTL, config.MaxSessionTTL) }
