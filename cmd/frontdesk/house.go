package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook/jobstore"
)

// wrapDriver lets a test put a driver of its own around the real one.
type wrapDriver func(backend.Driver) backend.Driver

// house is a running frontdesk: every part, wired top to bottom.
type house struct {
	config   *config.Config
	metrics  *metrics
	log      *zap.Logger
	system   *system
	policy   atomic.Pointer[gateway.Policy]
	client   *backend.Client
	gateway  *gateway.Gateway
	server   *gateway.Server
	listener net.Listener
	ops      *http.Server // nil where there is none
	opsAt    net.Listener
	jobs     *jobstore.Store
	releases []func() error
}

// build opens everything and listens, but serves nothing yet. Whatever was
// opened is closed again when something fails.
func build(p program, c *config.Config, environment string, log *zap.Logger) (h *house, err error) {
	h = &house{config: c, log: log, metrics: newMetrics()}
	defer func() {
		if err != nil {
			h.close()
			h = nil
		}
	}()
	hasher := auth.NewHasher()
	if h.system, err = openSystem(p.ctx, c, hasher, log); err != nil {
		return h, err
	}
	h.onClose(h.system.close)
	driver := h.system.driver
	if p.wrap != nil {
		driver = p.wrap(driver)
	}
	h.client, err = backend.NewClient(driver, h.system.model, backend.Options{
		Timeout: c.Backend.Timeout, MaxConcurrent: c.Backend.MaxConcurrent, MaxQueue: c.Backend.MaxQueue,
		CircuitFailures: c.Backend.Circuit.Failures, CircuitPause: c.Backend.Circuit.Pause, Observe: h.metrics.observe,
		OnState: func(resource, from, to string) {
			log.Warn("circuit breaker", zap.String("resource", resource), zap.String("from", from), zap.String("to", to))
		},
	})
	if err != nil {
		return h, err
	}
	if h.listener, err = listen(c.Server.Listen); err != nil {
		return h, err
	}
	h.onClose(h.listener.Close)
	c.Server.Listen = h.listener.Addr().String() // which is known only now where the port was 0
	if err := h.wire(hasher, environment); err != nil {
		return h, err
	}
	return h, h.listenOps()
}

// listen says in plain words what is wrong with an address most of the time.
func listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("cannot serve on %s: %w by another program", address, syscall.EADDRINUSE)
	}
	return l, err
}

// wire makes the gateway and what it is handed.
func (h *house) wire(hasher *auth.Hasher, environment string) error {
	c := h.config
	sessions := auth.NewMemory(time.Now)
	h.onClose(sessions.Close)
	mailer, err := newMailer(c.Mail)
	if err != nil {
		return err
	}
	accounts := h.client.Accounts(h.system.accounts)
	resets, err := auth.NewResets(auth.ResetsConfig{
		Accounts: accounts, Hasher: hasher, Sessions: sessions, Mailer: mailer, Base: c.Server.BaseURL(),
		Clock: time.Now, Random: rand.Reader, Log: h.log,
	})
	if err != nil {
		return err
	}
	h.onClose(resets.Close)
	login, err := auth.NewLogin(auth.LoginConfig{
		Verifier: accounts, Sessions: sessions, Throttle: auth.NewThrottle(auth.NewMemoryTally(), time.Now, auth.Sleep),
		TTL: c.Sessions.TTL, Vendor: c.Server.Vendor, Clock: time.Now, Random: rand.Reader, Log: h.log,
	})
	if err != nil {
		return err
	}
	callbacks, err := h.openCallbacks()
	if err != nil {
		return err
	}
	h.gateway, err = newGateway(gateway.Options{
		BasePath: c.Server.BasePath, PublicURL: c.Server.BaseURL(), Environment: environment, Version: version(),
		Location: c.Server.TimeZone.Location, Vendor: c.Server.Vendor, SessionTTL: c.Sessions.TTL, Offer: h.client.Offer(), Backend: h.client, Sessions: sessions, Login: login,
		Resets: resets, Callbacks: callbacks, Policy: h.policy.Load, Clock: time.Now, Log: h.log,
	})
	if err != nil {
		return err
	}
	keyring, err := newKeyring(c.APIKeys, h.gateway.Grants())
	if err != nil {
		return err
	}
	h.policy.Store(&gateway.Policy{Keys: keyring, AccessLog: c.Log.Access})
	if err := h.startCallbacks(callbacks); err != nil {
		return err
	}
	options := gateway.ServerOptions{
		BodyLimit: int(c.Server.BodyLimit), ReadTimeout: c.Server.ReadTimeout,
		WriteTimeout: c.Server.WriteTimeout, IdleTimeout: c.Server.IdleTimeout,
	}
	if c.Server.TLS.Enabled() {
		certificate, err := tls.LoadX509KeyPair(c.Server.TLS.CertFile, c.Server.TLS.KeyFile)
		if err != nil {
			return fmt.Errorf("server.tls: %w", err)
		}
		options.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	}
	h.server = gateway.NewServer(h.gateway, options)
	return nil
}

func newMailer(c config.Mail) (auth.Mailer, error) {
	if c.SMTP == "" {
		return auth.NewFolderMailer(c.Folder, c.From, time.Now, rand.Reader)
	}
	return auth.NewSMTPMailer(auth.SMTPConfig{URL: string(c.SMTP), From: c.From, Clock: time.Now, Random: rand.Reader})
}

// serve answers requests until the program is to stop, and then lets those
// under way end.
func (h *house) serve(ctx context.Context, ready func(baseURL string)) error {
	failed := make(chan error, 2)
	var serving sync.WaitGroup
	defer serving.Wait()
	serving.Go(func() { failed <- h.server.Serve(h.listener) })
	if h.ops != nil {
		serving.Go(func() { failed <- h.ops.Serve(h.opsAt) })
	}
	ready(h.config.Server.BaseURL())
	var err error
	select {
	case err = <-failed:
	case <-ctx.Done():
	}
	stop, cancel := context.WithTimeout(context.Background(), h.config.Server.ShutdownTimeout)
	defer cancel()
	if h.ops != nil {
		err = errors.Join(err, ignoreClosed(h.ops.Shutdown(stop)))
	}
	stopping := h.server.Shutdown(stop)
	if errors.Is(stopping, context.DeadlineExceeded) {
		stopping = fmt.Errorf("requests under way were broken off: they did not end within server.shutdown_timeout (%s)", h.config.Server.ShutdownTimeout)
	}
	return errors.Join(err, stopping)
}

func ignoreClosed(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// onClose has something released when the house closes, last opened first.
func (h *house) onClose(release func() error) { h.releases = append(h.releases, release) }

// close releases what build opened.
func (h *house) close() {
	for _, release := range slices.Backward(h.releases) {
		if err := release(); err != nil && !errors.Is(err, net.ErrClosed) {
			h.log.Error("close", zap.Error(err))
		}
	}
}
