package desk

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/valyala/fasthttp"
	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/history"
	"frontdesk/config"
	"frontdesk/gateway"
)

// openClient makes the client of the administration.
func openClient(b *basis, c config.Backend, system *System, wrap WrapDriver, told *history.History) (*backend.Client, error) {
	driver := system.driver
	if wrap != nil {
		driver = wrap(driver)
	}
	return backend.NewClient(driver, system.model, backend.Options{
		Timeout: c.Timeout, MaxConcurrent: c.MaxConcurrent, MaxQueue: &b.bounds.Queue,
		CircuitFailures: b.bounds.CircuitFailures, CircuitPause: b.bounds.CircuitPause, Now: b.now, Trace: b.tracing.call(),
		Observe: func(ctx context.Context, call backend.Call) {
			b.metrics.observeCall(ctx, call)
			told.NoteCall(call.Lane, call.Took, fateOf(call.Outcome))
		},
		OnState: func(c backend.Circuit, from string) {
			b.log.Warn("circuit breaker", zap.String("resource", c.Resource), zap.String("from", from), zap.String("to", c.State), zap.String("calls", c.Calls), zap.Int64("client", c.Client))
		},
	})
}

// logins are the parts by which people log in, and get new passwords.
type logins struct {
	queue  *auth.LoginQueue
	login  *auth.Login
	resets *auth.Resets
}

func openLogins(s storing, accounts auth.Accounts) (*logins, error) {
	c := s.config
	mailer, err := newMailer(c.Mail)
	if err != nil {
		return nil, err
	}
	l := &logins{queue: auth.NewLoginQueue(s.system.loginsAtOnce, time.Now)}
	if l.resets, err = auth.NewResets(auth.ResetsConfig{
		Accounts: accounts, Hasher: s.hasher, Sessions: s.common.sessions, Mailer: mailer, Base: c.Server.BaseURL(),
		Clock: time.Now, Random: rand.Reader, Log: s.log,
	}); err != nil {
		return nil, err
	}
	s.onClose(l.resets.Close)
	l.login, err = auth.NewLogin(auth.LoginConfig{
		Verifier: accounts, Sessions: s.common.sessions, Throttle: auth.NewThrottle(s.common.guesses, time.Now, auth.Sleep), Queue: l.queue,
		TTL: c.Sessions.TTL, Vendor: c.Server.Vendor, Clock: time.Now, Random: rand.Reader, Log: s.log, Observe: s.metrics.countLogin,
	})
	return l, err
}

func newMailer(c config.Mail) (auth.Mailer, error) {
	if c.SMTP == "" {
		return auth.NewFolderMailer(c.Folder, c.From, time.Now, rand.Reader)
	}
	return auth.NewSMTPMailer(auth.SMTPConfig{URL: string(c.SMTP), From: c.From, Clock: time.Now, Random: rand.Reader})
}

// options are those of the gateway, which judges each request by what is live then.
func (a answering) options(environment string, callbacks *gateway.Callbacks) gateway.Options {
	c := a.config
	return gateway.Options{
		BasePath: c.Server.BasePath, PublicURL: c.Server.BaseURL(), Environment: environment, Version: Version(),
		Location: c.Server.TimeZone.Location, Vendor: c.Server.Vendor, SessionTTL: c.Sessions.TTL, PageLimit: 2 * int(c.Server.BodyLimit), Offer: a.client.Offer(), Backend: a.client,
		Sessions: a.common.sessions, KeyEnded: a.keyEnds.ended, Login: a.logins.login, Resets: a.logins.resets, Limits: a.common.limits, TrustedProxies: prefixes(c.Server.TrustedProxies),
		Callbacks: callbacks, Policy: func() *gateway.Policy { return policyOf(a.live) }, Meter: a.metrics, History: a.past.History, Act: a.acts.note, Tracer: a.tracing.spans(),
		Clock: time.Now, Log: a.log, Access: a.logs.access,
	}
}

// openServer makes the server of the gateway, which is not started yet. It has no certificates
// without TLS.
func openServer(b Bounds, c *config.Config, g *gateway.Gateway, current func() fasthttp.RequestHandler) (s *gateway.Server, own *certificates, err error) {
	options := gateway.ServerOptions{
		BodyLimit: int(c.Server.BodyLimit), BodyMemory: max(b.BodyMemory, 2*int(c.Server.BodyLimit)), ReadTimeout: c.Server.ReadTimeout,
		WriteTimeout: b.WriteTimeout, IdleTimeout: idleTimeout, Connections: connectionBounds(b, descriptors()), Current: current,
	}
	if c.Server.TLS.Enabled() {
		if own, err = openCertificates(c.Server.TLS); err != nil {
			return nil, nil, err
		}
		options.TLS = own.serverConfig()
	}
	return gateway.NewServer(g, options), own, nil
}
