package desk

import (
	"context"
	"crypto/rand"
	"time"

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
		Timeout: c.Timeout, MaxConcurrent: c.MaxConcurrent, MaxQueue: c.MaxQueue,
		CircuitFailures: c.Circuit.Failures, CircuitPause: c.Circuit.Pause, Trace: b.tracing.call(),
		Observe: func(ctx context.Context, call backend.Call) {
			b.metrics.observeCall(ctx, call)
			told.NoteCall(call.Lane, call.Took, fateOf(call.Outcome))
		},
		OnState: func(c backend.Circuit, from string) {
			b.log.Warn("circuit breaker", zap.String("resource", c.Resource), zap.String("from", from), zap.String("to", c.State), zap.String("calls", c.Calls))
		},
	})
}

// logins are the parts by which people log in, and get new passwords.
type logins struct {
	hasher *auth.Hasher
	queue  *auth.LoginQueue
	login  *auth.Login
	resets *auth.Resets
}

func openLogins(b *basis, c *config.Config, accounts auth.Accounts, atOnce int, hasher *auth.Hasher, shared *common) (*logins, error) {
	mailer, err := newMailer(c.Mail)
	if err != nil {
		return nil, err
	}
	l := &logins{hasher: hasher, queue: auth.NewLoginQueue(atOnce, time.Now)}
	if l.resets, err = auth.NewResets(auth.ResetsConfig{
		Accounts: accounts, Hasher: hasher, Sessions: shared.sessions, Mailer: mailer, Base: c.Server.BaseURL(),
		Clock: time.Now, Random: rand.Reader, Log: b.log,
	}); err != nil {
		return nil, err
	}
	b.onClose(l.resets.Close)
	l.login, err = auth.NewLogin(auth.LoginConfig{
		Verifier: accounts, Sessions: shared.sessions, Throttle: auth.NewThrottle(shared.guesses, time.Now, auth.Sleep), Queue: l.queue,
		TTL: c.Sessions.TTL, Vendor: c.Server.Vendor, Clock: time.Now, Random: rand.Reader, Log: b.log, Observe: b.metrics.countLogin,
	})
	return l, err
}

func newMailer(c config.Mail) (auth.Mailer, error) {
	if c.SMTP == "" {
		return auth.NewFolderMailer(c.Folder, c.From, time.Now, rand.Reader)
	}
	return auth.NewSMTPMailer(auth.SMTPConfig{URL: string(c.SMTP), From: c.From, Clock: time.Now, Random: rand.Reader})
}

// openGateway makes the gateway. It judges each request by what is live then.
func openGateway(b *basis, c *config.Config, environment string, client *backend.Client, shared *common, l *logins, callbacks *gateway.Callbacks, acts *acts, told gateway.Historian, live *config.Live[snapshot]) (*gateway.Gateway, error) {
	return newGateway(gateway.Options{
		BasePath: c.Server.BasePath, PublicURL: c.Server.BaseURL(), Environment: environment, Version: Version(),
		Location: c.Server.TimeZone.Location, Vendor: c.Server.Vendor, SessionTTL: c.Sessions.TTL, PageLimit: 2 * int(c.Server.BodyLimit), Offer: client.Offer(), Backend: client,
		Sessions: shared.sessions, Login: l.login, Resets: l.resets, Limits: shared.limits, TrustedProxies: prefixes(c.Server.TrustedProxies),
		Callbacks: callbacks, Policy: func() *gateway.Policy { return policyOf(live) }, Meter: b.metrics, History: told, Act: acts.note, Tracer: b.tracing.spans(),
		Clock: time.Now, Log: b.log, Access: b.logs.access,
	})
}

// openServer makes the server of the gateway, which is not started yet. It has no certificates
// without TLS.
func openServer(b *basis, c *config.Config, g *gateway.Gateway) (s *gateway.Server, own *certificates, err error) {
	options := gateway.ServerOptions{
		BodyLimit: int(c.Server.BodyLimit), BodyMemory: int(c.Server.BodyBudget()), ReadTimeout: c.Server.ReadTimeout,
		WriteTimeout: c.Server.WriteTimeout, IdleTimeout: c.Server.IdleTimeout, Connections: bounds(c.Server.Connections, descriptors(), b.log),
	}
	if c.Server.TLS.Enabled() {
		if own, err = openCertificates(c.Server.TLS); err != nil {
			return nil, nil, err
		}
		options.TLS = own.serverConfig()
	}
	return gateway.NewServer(g, options), own, nil
}
