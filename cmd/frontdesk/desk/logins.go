package desk

import (
	"crypto/rand"
	"time"

	"frontdesk/auth"
	"frontdesk/config"
)

// logins are the parts by which people log in, and get new passwords.
type logins struct {
	queue  *auth.LoginQueue
	login  *auth.Login
	resets *auth.Resets
}

func openLogins(h *Desk, accounts auth.Accounts) (*logins, error) {
	c := h.config
	mailer, err := newMailer(c.Mail)
	if err != nil {
		return nil, err
	}
	l := &logins{queue: auth.NewLoginQueue(h.system.loginsAtOnce, time.Now)}
	if l.resets, err = auth.NewResets(auth.ResetsConfig{
		Accounts: accounts, Hasher: h.hasher, Sessions: h.common.sessions, Mailer: mailer, Base: c.Server.BaseURL(),
		Clock: time.Now, Random: rand.Reader, Log: h.log,
	}); err != nil {
		return nil, err
	}
	h.onClose(l.resets.Close)
	l.login, err = auth.NewLogin(auth.LoginConfig{
		Verifier: accounts, Sessions: h.common.sessions, Throttle: auth.NewThrottle(h.common.guesses, time.Now, auth.Sleep), Queue: l.queue,
		TTL: c.Sessions.TTL, Vendor: c.Server.Vendor, Clock: time.Now, Random: rand.Reader, Log: h.log, Observe: h.metrics.LoggedIn,
	})
	return l, err
}

func newMailer(c config.Mail) (auth.Mailer, error) {
	if c.SMTP == "" {
		return auth.NewFolderMailer(c.Folder, c.From, time.Now, rand.Reader)
	}
	return auth.NewSMTPMailer(auth.SMTPConfig{URL: string(c.SMTP), From: c.From, Clock: time.Now, Random: rand.Reader})
}
