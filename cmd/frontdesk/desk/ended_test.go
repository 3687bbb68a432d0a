package desk

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/auth"
	"frontdesk/config"
)

// slowAccounts are those of a database that hangs.
type slowAccounts struct{}

func (slowAccounts) EndedSessions(ctx context.Context, _ time.Time) ([]auth.UserEnd, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// TestWhoCannotTellWhoseSessionsEndedSaysSo: where the database does not answer in time, the log
// says that sessions may go on, and those that were known to have ended have; a stop is no reason
// to say so. Before, neither was told.
func TestWhoCannotTellWhoseSessionsEndedSaysSo(t *testing.T) {
	core, told := observer.New(zap.WarnLevel)
	h := &Desk{config: &config.Config{Backend: config.Backend{Timeout: time.Millisecond}}, log: zap.New(core), sessions: newEndedSessions(nil)}
	h.sessions.know(time.Now(), []auth.UserEnd{{Username: "anna"}})
	h.lookForEnded(t.Context(), slowAccounts{})
	require.Equal(t, 1, told.FilterMessageSnippet("whose sessions have ended cannot be read").Len())
	require.Contains(t, h.sessions.known.Load().of, "anna")

	stopped, stop := context.WithCancel(t.Context())
	stop()
	h.lookForEnded(stopped, slowAccounts{})
	require.Equal(t, 1, told.Len())
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
		{"of an older version, opened before", newPassword, auth.Session{Issued: before}, auth.CauseNewPassword},
		{"of an older version, opened after", newPassword, auth.Session{Issued: now.Add(-time.Second)}, ""},
		{"blocked, and logged in again since", auth.UserEnd{Blocked: true, End: end, Why: auth.CauseUserBlocked}, auth.Session{KeyName: "k", Issued: now, User: auth.User{SessionsEnd: end}}, ""},
		{"blocked by an older version", auth.UserEnd{Blocked: true}, auth.Session{KeyName: "k", Issued: before}, auth.CauseUserBlocked},
		{"blocked again by an older version", auth.UserEnd{Blocked: true, End: end, Why: auth.CauseNewPassword}, auth.Session{KeyName: "k", Issued: before, User: auth.User{SessionsEnd: end}}, auth.CauseUserBlocked},
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
