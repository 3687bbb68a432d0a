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
	"frontdesk/config"
)

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
