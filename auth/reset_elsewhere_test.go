package auth_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
)

var (
	_ auth.Accounts           = elsewhere{}
	_ auth.PasswordsElsewhere = elsewhere{}
)

// elsewhere are users whose passwords another program keeps.
type elsewhere struct {
	*accounts
	t     *testing.T
	where string
}

func (e elsewhere) ForgotPassword() string { return e.where }

func (e elsewhere) SetPassword(context.Context, string, string) error {
	e.t.Error("SetPassword was called")
	return nil
}

func (e elsewhere) KeepReset(context.Context, [32]byte, string, time.Time) error {
	e.t.Error("KeepReset was called")
	return nil
}

func (e elsewhere) FindReset(context.Context, [32]byte, time.Time) (auth.User, error) {
	e.t.Error("FindReset was called")
	return e.users["anna"], nil
}

func (e elsewhere) Redeem(context.Context, [32]byte, string, time.Time) error {
	e.t.Error("Redeem was called")
	return nil
}

func TestResetElsewhereMailsWhere(t *testing.T) {
	for where, told := range map[string][]string{
		"https://dealer.example.nl/wachtwoord?van=frontdesk&taal=nl": {"\nhttps://dealer.example.nl/wachtwoord?van=frontdesk&taal=nl\n"},
		"": {"Vraag de beheerder daarvan", "Ask whoever manages that"},
	} {
		post := &postbox{mails: make(chan auth.Mail)}
		d := openResetDesk(t, elsewhere{newAccounts(), t, where}, post)
		require.NoError(t, d.Request(t.Context(), "anna"))
		m := <-post.mails
		require.Equal(t, "anna@example.nl", m.To)
		require.NotContains(t, m.Text, "resetpassword")
		for _, words := range told {
			require.Equal(t, 2/len(told), strings.Count(m.Text, words), "in both languages: %s", m.Text)
		}
	}
}

// Requests are served in order: what brought a mail wrongly would come before
// bert's.
func TestResetElsewhereKeepsTheLimits(t *testing.T) {
	post := &postbox{mails: make(chan auth.Mail)}
	d := openResetDesk(t, elsewhere{newAccounts(), t, "bel 010-1234567"}, post)
	for _, username := range []string{"nobody", "", "blocked", "external", "noemail", "bademail"} {
		require.NoError(t, d.Request(t.Context(), username))
	}
	for range 3 {
		require.NoError(t, d.Request(t.Context(), "anna"))
		require.Equal(t, "anna@example.nl", (<-post.mails).To)
	}
	require.NoError(t, d.Request(t.Context(), "anna"))
	require.NoError(t, d.Request(t.Context(), "bert"))
	require.Equal(t, "bert@example.nl", (<-post.mails).To)
	require.Zero(t, d.logs.Len())
}

func TestResetElsewhereTakesNoToken(t *testing.T) {
	d := openResetDesk(t, elsewhere{newAccounts(), t, ""}, &postbox{mails: make(chan auth.Mail)})
	require.ErrorIs(t, d.Complete(t.Context(), strings.Repeat("A", 43), "new password"), auth.ErrUnknownReset)
}
