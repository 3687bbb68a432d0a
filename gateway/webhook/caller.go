package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"code.dny.dev/ssrf"
)

// Why a call did not deliver. Journal and log show only these words: an error of net/http
// contains the address with its query.
const (
	ErrAddress   = "address"      // not https, or not a public address, or not an allowed port
	ErrSecret    = "secret"       // a webhook_secret cannot be read
	ErrResolve   = "resolve"      // the name has no address
	ErrConnect   = "connect"      // no connection, or not in time
	ErrTLS       = "tls"          // no common TLS, or a certificate that does not hold
	ErrTimeout   = "timeout"      // no answer in the time of a call
	ErrAnswer    = "answer"       // the connection ended, or the answer was not HTTP
	ErrRedirect  = "redirect"     // 3xx, which is not followed
	ErrStatus    = "status"       // any other status but 2xx
	ErrCancelled = "cancelled"    // not tried: the context of the call ended
	ErrOpen      = "circuit open" // not tried: the host keeps failing this client
	ErrBusy      = "busy"         // not tried: the client has enough calls under way there
)

// The bounds of a call.
const (
	defaultTimeout        = 15 * time.Second
	defaultConnectTimeout = 5 * time.Second
	defaultPerHost        = 4
	answerLimit           = 1 << 10
	headerLimit           = 16 << 10
	keptHosts             = 1024
)

// CallerConfig is what a Caller needs. Its zero value will do.
type CallerConfig struct {
	Rules Rules
	// Roots are the trusted authorities; nil stands for the system's. See Roots.
	Roots *x509.CertPool
	// Resolver resolves names; nil stands for the system's.
	Resolver *net.Resolver
	// Dial connects without judging addresses; nil stands for the guarded dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Clock returns the time; nil stands for time.Now.
	Clock func() time.Time
	// Timeout bounds a call in all (15 s where it is zero), ConnectTimeout its
	// connecting and again its TLS handshake (5 s).
	Timeout, ConnectTimeout time.Duration
	// PerHost bounds the calls of one client under way at one host (4 where it is zero).
	PerHost int
}

// Caller makes callbacks. It keeps no connection open, so every try resolves and judges
// its address again. It is safe for concurrent use.
type Caller struct {
	rules     Rules
	clock     func() time.Time
	timeout   time.Duration
	transport *http.Transport
	hosts     *hosts
}

// NewCaller makes a Caller; it needs no closing.
func NewCaller(cfg CallerConfig) *Caller {
	if cfg.Clock == nil {
		cfg.Clock = time.Now
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = defaultTimeout
	}
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = defaultConnectTimeout
	}
	if cfg.PerHost == 0 {
		cfg.PerHost = defaultPerHost
	}
	dial := newDialer(cfg.Rules, net.Dialer{Timeout: cfg.ConnectTimeout, Resolver: cfg.Resolver}).DialContext
	if cfg.Dial != nil {
		dial = cfg.Dial
	}
	return &Caller{
		rules:   cfg.Rules,
		clock:   cfg.Clock,
		timeout: cfg.Timeout,
		hosts:   newHosts(keptHosts, cfg.PerHost),
		transport: &http.Transport{
			Proxy:                  nil, // a proxy would connect to addresses that nobody judged
			DialContext:            dial,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: cfg.Roots},
			TLSHandshakeTimeout:    cfg.ConnectTimeout,
			ForceAttemptHTTP2:      true,
			DisableKeepAlives:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: headerLimit,
		},
	}
}

// Roots returns the system's authorities and those of a PEM file; an empty name
// adds none.
func Roots(caFile string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("the system's certificate authorities: %w", err)
	}
	if caFile == "" {
		return roots, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, err
	}
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate found in it", caFile)
	}
	return roots, nil
}

// Request is one callback to make.
type Request struct {
	URL     *url.URL          // from ParseCallback; not changed
	Client  int64             // whose callback it is
	ID      string            // added to the query, and signed
	Secrets []string          // see ParseSecret; none leaves the call unsigned
	Now     time.Time         // of the signature; zero stands for the Caller's clock
	Trace   map[string]string // headers of the trace it belongs to; nil for none
}

// Outcome is how a call ended.
type Outcome struct {
	// Tried reports whether the call counts as a try. A cancelled one does not,
	// though the receiver may have seen it.
	Tried bool
	// Status is the receiver's, 0 where it gave none.
	Status int
	// RetryAfter is how long the receiver, or a circuit that is open, asks to
	// wait; 0 where none does.
	RetryAfter time.Duration
	// Err is one of the Err words, empty after a delivery.
	Err string
	// Duration is how long the call took.
	Duration time.Duration
}

// Delivered reports whether the receiver answered with success: any 2xx, even if the rest
// of its answer fails.
func (o Outcome) Delivered() bool { return o.Status >= 200 && o.Status <= 299 }

// What an outcome is in a word, in addition to the Err words.
const (
	wordDelivered = "delivered"
	wordGone      = "gone" // 410: the receiver wants no more calls
)

// Word returns what the outcome is in a word.
func (o Outcome) Word() string {
	switch {
	case o.Delivered():
		return wordDelivered
	case o.Gone():
		return wordGone
	default:
		return o.Err
	}
}

// Words returns all words for outcomes.
func Words() []string {
	return slices.Concat([]string{wordDelivered, wordGone}, Problems(), []string{ErrCancelled, ErrOpen, ErrBusy})
}

// Problems returns all values of the Error of a Try, except "".
func Problems() []string {
	return []string{ErrAddress, ErrSecret, ErrResolve, ErrConnect, ErrTLS, ErrTimeout, ErrAnswer, ErrRedirect, ErrStatus}
}

// Gone reports whether the receiver wants no further calls: 410.
func (o Outcome) Gone() bool { return o.Status == http.StatusGone }

// Call makes one callback, or returns that it should not be made now. It ends at its
// timeout or when ctx ends, whichever is first.
func (c *Caller) Call(ctx context.Context, r Request) (o Outcome) {
	start := c.clock()
	defer func() { o.Duration = c.clock().Sub(start) }()
	if r.Now.IsZero() {
		r.Now = start
	}
	// The rules may have become stricter since the address was accepted.
	u, err := ParseCallback(r.URL.String(), c.rules)
	if err != nil {
		return Outcome{Tried: true, Err: ErrAddress}
	}
	header := http.Header{"User-Agent": {"frontdesk"}}
	for name, value := range r.Trace {
		header.Set(name, value)
	}
	if err := sign(header, r.ID, r.Now, r.Secrets); err != nil {
		return Outcome{Tried: true, Err: ErrSecret}
	}
	err = c.hosts.call(target{client: r.Client, host: u.Host}, func() error {
		o = c.get(ctx, withID(u, r.ID), header)
		switch {
		case !o.Tried:
			return errAbandoned
		case o.Status == 0 || o.Status >= http.StatusInternalServerError:
			return errFailing
		default: // the host works, even if it refuses this callback
			return nil
		}
	})
	switch {
	case errors.Is(err, errOpen):
		return Outcome{Err: ErrOpen, RetryAfter: breakerPause}
	case errors.Is(err, errBusy):
		return Outcome{Err: ErrBusy, RetryAfter: busyPause}
	}
	return o
}

// get makes the request. It uses the transport directly, because a client would follow
// redirects.
func (c *Caller) get(ctx context.Context, u *url.URL, header http.Header) Outcome {
	limited, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	var p progress
	r, err := http.NewRequestWithContext(httptrace.WithClientTrace(limited, p.trace()), http.MethodGet, u.String(), http.NoBody)
	if err != nil {
		return Outcome{Tried: true, Err: ErrAddress}
	}
	r.Header = header
	answer, err := c.transport.RoundTrip(r)
	if err != nil {
		return c.failed(ctx, limited, err, &p)
	}
	defer answer.Body.Close()
	o := Outcome{Tried: true, Status: answer.StatusCode}
	if !o.Delivered() {
		o.Err = ErrStatus
		if o.Status >= 300 && o.Status <= 399 {
			o.Err = ErrRedirect
		}
		o.RetryAfter = retryAfter(answer.Header.Get("Retry-After"), c.clock())
	}
	// Reading a short answer completely avoids a reset of the connection. Its content and
	// its end do not matter.
	_, _ = io.CopyN(io.Discard, answer.Body, answerLimit)
	return o
}

// failed classifies the error of a request that got no answer.
func (c *Caller) failed(ctx, limited context.Context, err error, p *progress) Outcome {
	var unresolved *net.DNSError
	o := Outcome{Tried: true}
	switch {
	case errors.Is(err, ssrf.ErrProhibitedIP), errors.Is(err, ssrf.ErrProhibitedPort), errors.Is(err, ssrf.ErrProhibitedNetwork):
		o.Err = ErrAddress
	case ctx.Err() != nil:
		return Outcome{Err: ErrCancelled}
	case limited.Err() != nil:
		o.Err = ErrTimeout
	case errors.As(err, &unresolved):
		o.Err = ErrResolve
	default:
		o.Err = p.failure()
	}
	return o
}

// progress is how far a request came; net/http has no typed errors for that.
type progress struct{ handshaking, connected atomic.Bool }

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		TLSHandshakeStart: func() { p.handshaking.Store(true) },
		GotConn:           func(httptrace.GotConnInfo) { p.connected.Store(true) },
	}
}

func (p *progress) failure() string {
	switch {
	case p.connected.Load():
		return ErrAnswer
	case p.handshaking.Load():
		return ErrTLS
	default:
		return ErrConnect
	}
}

// retryAfter reads the header: seconds, or a date. What is neither, or past, is 0.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 64); err == nil {
		return time.Duration(min(seconds, uint64(retryAfterLimit/time.Second))) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), retryAfterLimit)
}
