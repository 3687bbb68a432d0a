package auth_test

import (
	"context"
	"crypto/rand"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

// postbox hands each mail to the test; fail, when it is set, comes back instead.
type postbox struct {
	mails chan auth.Mail
	begun chan struct{} // tells that a mail was brought since it was last looked at
	mu    sync.Mutex
	fail  error
}

func (p *postbox) Send(ctx context.Context, m auth.Mail) error {
	p.mu.Lock()
	fail := p.fail
	p.mu.Unlock()
	select {
	case p.begun <- struct{}{}:
	default:
	}
	select {
	case p.mails <- m:
		return fail
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (p *postbox) failWith(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fail = err
}

type resetDesk struct {
	*auth.Resets
	accounts *accounts
	clock    *authtest.Clock
	post     *postbox
	logs     *observer.ObservedLogs
}

func newResetDesk(t *testing.T) *resetDesk {
	t.Helper()
	accounts, post := newAccounts(), &postbox{mails: make(chan auth.Mail), begun: make(chan struct{}, 1)}
	d := openResetDesk(t, accounts, post)
	d.accounts, d.post = accounts, post
	return d
}

func openResetDesk(t *testing.T, accounts auth.Accounts, mailer auth.Mailer) *resetDesk {
	t.Helper()
	d := &resetDesk{clock: authtest.NewClock()}
	memory := auth.NewMemory(d.clock.Now)
	core, logs := observer.New(zap.DebugLevel)
	d.logs = logs
	resets := must.Have(auth.NewResets(auth.ResetsConfig{
		Accounts: accounts,
		Hasher:   auth.NewHasher(),
		Sessions: memory,
		Mailer:   mailer,
		Base:     "https://api.example.nl/webservice_v2/",
		Clock:    d.clock.Now,
		Random:   rand.Reader,
		Log:      zap.New(core),
	}))(t)
	d.Resets = resets
	t.Cleanup(func() {
		require.NoError(t, resets.Close())
		require.NoError(t, memory.Close())
	})
	return d
}

// Complete completes a reset, which has to name whose it was where it is done.
func (d *resetDesk) Complete(ctx context.Context, token, password string) error {
	username, err := d.Resets.Complete(ctx, token, password)
	if err == nil && username != "anna" {
		return errors.New("it names " + username)
	}
	return err
}

// mailed asks for a reset and returns the token of the mail that comes.
func (d *resetDesk) mailed(t *testing.T, username string) string {
	t.Helper()
	require.NoError(t, d.Request(t.Context(), username))
	m := <-d.post.mails
	require.Equal(t, username+"@example.nl", m.To)
	found := regexp.MustCompile(`https://api\.example\.nl/webservice_v2/authenticate/resetpassword\?reset=([A-Za-z0-9_-]{43})\n`).
		FindAllStringSubmatch(m.Text, -1)
	require.Len(t, found, 2, m.Text)
	require.Equal(t, found[0][1], found[1][1])
	return found[0][1]
}

// requireSet requires anna to have that password.
func (d *resetDesk) requireSet(t *testing.T, password string) {
	t.Helper()
	set := must.Have(auth.NewHasher().Verify(t.Context(), password, d.accounts.hashes["anna"]))(t)
	require.True(t, set)
}

func TestResetRefusesTokens(t *testing.T) {
	d := newResetDesk(t)
	token := d.mailed(t, "anna")
	for _, bad := range []string{"", token[1:], token + "x", strings.Repeat("A", 43)} {
		require.ErrorIs(t, d.Complete(t.Context(), bad, "new password"), auth.ErrUnknownReset, bad)
	}
	d.clock.Advance(time.Hour)
	require.ErrorIs(t, d.Complete(t.Context(), token, "new password"), auth.ErrUnknownReset)

	token = d.mailed(t, "anna")
	u := d.accounts.users["anna"]
	for _, change := range []func(*auth.User){
		func(u *auth.User) { u.Blocked = true }, func(u *auth.User) { u.External = true }, func(u *auth.User) { u.Email = "" },
	} {
		changed := u
		change(&changed)
		d.accounts.users["anna"] = changed
		require.ErrorIs(t, d.Complete(t.Context(), token, "new password"), auth.ErrUnknownReset)
	}
	d.accounts.users["anna"] = u
	require.NoError(t, d.Complete(t.Context(), token, "new password"), "the link was not spent for nothing")
}

// TestResetCompletes: a password that could not be set leaves the link as it was, and one that can be is
// set for who leaves meanwhile.
func TestResetCompletes(t *testing.T) {
	d := newResetDesk(t)
	token := d.mailed(t, "anna")
	d.accounts.fail = errors.New("it is down")
	require.ErrorContains(t, d.Complete(t.Context(), token, "new password"), "it is down")
	d.accounts.fail = nil
	require.Empty(t, d.accounts.hashes)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	require.NoError(t, d.Complete(ctx, token, "new password"))
	d.requireSet(t, "new password")
}

func TestResetQuotaComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := newResetDesk(t)
		spent := func() {
			t.Helper()
			require.NoError(t, d.Request(t.Context(), "anna"))
			synctest.Wait()
			select {
			case <-d.post.mails:
				require.Fail(t, "a mail too many")
			default:
			}
		}
		d.mailed(t, "anna")
		d.mailed(t, "anna")
		time.Sleep(time.Minute)
		d.mailed(t, "anna")
		spent()
		time.Sleep(59*time.Minute + 1)
		d.mailed(t, "anna")
		d.mailed(t, "anna")
		spent()
		time.Sleep(time.Minute)
		d.mailed(t, "anna")
	})
}

func TestResetFailureIsLoggedAndCostsNothing(t *testing.T) {
	d := newResetDesk(t)
	d.post.failWith(errors.New("mail server is down"))
	for range 5 {
		d.mailed(t, "anna")
	}
	d.post.failWith(nil)
	d.mailed(t, "anna")
	require.Equal(t, 5, d.logs.FilterMessage("password reset was not mailed").Len())
	for _, entry := range d.logs.All() {
		require.NotContains(t, entry.ContextMap()["error"], "anna")
	}
}

func TestResetRefusesMoreThanItCanKeep(t *testing.T) {
	d := newResetDesk(t)
	err := d.Request(t.Context(), "anna")
	require.NoError(t, err)
	<-d.post.begun // which nobody empties
	for range 100 {
		if err = d.Request(t.Context(), "anna"); err != nil {
			break
		}
	}
	require.Equal(t, mapping.TooManyRequests, reason(t, err))
	require.Equal(t, err, d.Request(t.Context(), "nobody"), "alike for whoever is not there")
}

func TestNewResetsJudgesTheBase(t *testing.T) {
	for _, base := range []string{"", "/webservice_v2", "ftp://example.nl", "https://example.nl/?a=b", "https://u:p@example.nl", "https://"} {
		require.Error(t, must.Fail(auth.NewResets(auth.ResetsConfig{Base: base})), base)
	}
}

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
	require.ErrorIs(t, d.Complete(t.Context(), strings.Repeat("A", 43), "new password"), auth.ErrUnknownReset, "it takes no token")
}
