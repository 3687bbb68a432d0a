package redis

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/redis/rueidis"
)

// Timeout is how long a question to the server may take, in all.
const Timeout = 2 * time.Second

// Options say how the server is reached.
type Options struct {
	// URL is redis://user:password@host:6379/0, or rediss:// for TLS. Further
	// nodes of a cluster, or the sentinels of ?master_set=NAME, follow as
	// ?addr=host:port, each.
	URL    string
	CAFile string // PEM file of further authorities to trust with rediss; empty for none
}

// Client is a connection to the server, shared by the stores made on it, and closed
// after them. Safe for concurrent use.
type Client struct {
	rueidis.Client
	conns *connections
}

// Judge returns what is wrong with the options, as Open would, without connecting. The error
// never holds a password.
func (o Options) Judge() error {
	_, err := o.read()
	return err
}

// read reads the URL and the file of authorities.
func (o Options) read() (option rueidis.ClientOption, err error) {
	if option, err = rueidis.ParseURL(o.URL); err != nil {
		return option, errors.New("redis: the URL cannot be read: expected redis://user:password@host:6379, or rediss:// for TLS")
	}
	if o.CAFile != "" && option.TLSConfig != nil {
		if option.TLSConfig.RootCAs, err = authorities(o.CAFile); err != nil {
			return option, fmt.Errorf("redis: %w", err)
		}
	}
	return option, nil
}

// Open connects to the server. The error of a server that cannot be reached never
// holds its password.
func Open(o Options) (*Client, error) {
	option, err := o.read()
	if err != nil {
		return nil, err
	}
	option.ClientName = "frontdesk"
	option.DisableCache = true
	option.ConnWriteTimeout = Timeout // also how long an answer may take before the connection is given up
	option.Dialer = net.Dialer{Timeout: Timeout, KeepAlive: time.Second}
	option.ReadBufferEachConn = 16 << 10
	option.WriteBufferEachConn = 16 << 10
	option.RetryDelay = onceMore
	if option.Sentinel.MasterSet != "" && option.TLSConfig != nil {
		option.Sentinel.TLSConfig = option.TLSConfig.Clone()
	}
	open := newConnections(option.DialCtxFn)
	option.DialCtxFn = open.dial
	client, err := rueidis.NewClient(option)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	return &Client{client, open}, nil
}

// namePrefix is what every name in Redis begins with. A rule of Redis for who may do what can go by it.
const namePrefix = "frontdesk:"

// probeName returns the key that Ready writes. In a cluster each probe reaches one of its servers.
func probeName() string { return namePrefix + "probe:" + rand.Text()[:1] }

// probeLife is how long the server keeps what a probe wrote.
const probeLife = 10 * time.Second

// Ready reports within Timeout whether the server takes writes. If the server answers but
// refuses them, the error is a *WriteRefusal with the reason.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	written := make(chan error, 1)
	go func() { // may outlive this call until the dialling of a server that hangs ends
		written <- c.write(ctx, func() rueidis.Completed {
			return c.B().Set().Key(probeName()).Value("").PxMilliseconds(probeLife.Milliseconds()).Build()
		}).Error()
	}()
	select {
	case err := <-written:
		return failed(err)
	case <-ctx.Done():
		return failed(ctx.Err())
	}
}

// mostAttempts bounds the attempts of one request: closed connections are noticed one after
// the other.
const mostAttempts = 8

// attempt sends a request that writes. A server that has become a replica refuses it: then
// attempt closes all connections, because new ones may lead to the new primary, and sends the
// request once more. Requests that lose their connection because it was closed here are
// repeated too: the server did none of them. A request lost in any other way is not
// repeated, because the server may have done it.
func (c *Client) attempt(request func() rueidis.RedisResult) (answer rueidis.RedisResult) {
	began, refused := time.Now(), false
	for range mostAttempts {
		answer = request()
		switch refusal := refusalOf(answer.Error()); {
		case refusal != nil && refusal.Code == readOnly && !refused:
			refused = true
			c.conns.closeAll()
		case !errors.Is(answer.NonRedisError(), net.ErrClosed) || !c.conns.closedSince(began.Add(-closeEvery)):
			return answer
		}
	}
	return answer
}

// read sends a request that changes nothing. It can be repeated after any failure, and is,
// if connections were closed here shortly before because the server refused a write.
func (c *Client) read(ctx context.Context, command func() rueidis.Completed) (answer rueidis.RedisResult) {
	began := time.Now()
	for range mostAttempts {
		answer = c.Do(ctx, command())
		if answer.NonRedisError() == nil || ctx.Err() != nil || !c.conns.closedSince(began.Add(-closeEvery)) {
			break
		}
	}
	return answer
}

// write is attempt for one command, which is built anew each time.
func (c *Client) write(ctx context.Context, command func() rueidis.Completed) rueidis.RedisResult {
	return c.attempt(func() rueidis.RedisResult { return c.Do(ctx, command()) })
}

// run is attempt for a script.
func (c *Client) run(ctx context.Context, script *rueidis.Lua, names, args []string) rueidis.RedisResult {
	return c.attempt(func() rueidis.RedisResult { return script.Exec(ctx, c.Client, names, args) })
}

// onceMore makes rueidis repeat a failed read once, at once, because the server may have
// closed the connection when it was restarted earlier.
func onceMore(attempts int, _ rueidis.Completed, _ error) time.Duration {
	if attempts > 1 {
		return -1
	}
	return 0
}

// authorities returns the certificate authorities of the system and those of a PEM file.
func authorities(file string) (*x509.CertPool, error) {
	all, err := x509.SystemCertPool()
	if err != nil {
		return nil, fmt.Errorf("the system's certificate authorities: %w", err)
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !all.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", file)
	}
	return all, nil
}
