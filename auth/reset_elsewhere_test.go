package auth_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
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

// posted tells when a mail is in the folder.
type posted struct {
	auth.Mailer
	sent chan error
}

func (p posted) Send(ctx context.Context, m auth.Mail) error {
	err := p.Mailer.Send(ctx, m)
	p.sent <- err
	return err
}

func TestResetElsewhereMailsWhere(t *testing.T) {
	const where = "https://dealer.example.nl/wachtwoord?van=frontdesk&taal=nl"
	folder := t.TempDir()
	written, err := auth.NewFolderMailer(folder, "noreply@example.nl", authtest.NewClock().Now, rand.Reader)
	require.NoError(t, err)
	post := posted{written, make(chan error)}
	d := openResetDesk(t, elsewhere{newAccounts(), t, where}, post)

	require.NoError(t, d.Request(t.Context(), "anna"))
	require.NoError(t, <-post.sent)
	files, err := filepath.Glob(filepath.Join(folder, "*.eml"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	mail, err := os.ReadFile(files[0])
	require.NoError(t, err)
	require.Contains(t, string(mail), "To: <anna@example.nl>\r\n")
	require.Equal(t, 2, strings.Count(string(mail), "\r\n"+where+"\r\n"), "in both languages: %s", mail)
	require.NotContains(t, string(mail), "resetpassword")
}

func TestResetElsewhereNobodySaidWhere(t *testing.T) {
	post := &postbox{mails: make(chan auth.Mail)}
	d := openResetDesk(t, elsewhere{newAccounts(), t, ""}, post)
	require.NoError(t, d.Request(t.Context(), "anna"))
	m := <-post.mails
	require.Contains(t, m.Text, "Vraag de beheerder daarvan")
	require.Contains(t, m.Text, "Ask whoever manages that")
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
