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
	lines *lines
}

// Judge tells what is wrong with the options, as Open would, without connecting. The error
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
	open := newLines(option.DialCtxFn)
	option.DialCtxFn = open.dial
	client, err := rueidis.NewClient(option)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	return &Client{client, open}, nil
}

// probeName is what Ready writes. In a cluster each probe asks one of its servers.
func probeName() string { return "frontdesk:probe:" + rand.Text()[:1] }

// probeLife is how long the server keeps what a probe wrote.
const probeLife = 10 * time.Second

// Ready tells within Timeout whether the server takes writes: a *WriteRefusal says why
// one that answers does not.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	asked := make(chan error, 1)
	go func() { // which ends with the dialling of a server that hangs, soon after
		asked <- c.write(ctx, func() rueidis.Completed {
			return c.B().Set().Key(probeName()).Value("").PxMilliseconds(probeLife.Milliseconds()).Build()
		}).Error()
	}()
	select {
	case err := <-asked:
		return failed(err)
	case <-ctx.Done():
		return failed(ctx.Err())
	}
}

// askAtMost is how often a question is put: the connections that were closed are noticed
// one after the other.
const askAtMost = 8

// ask puts a question that writes. A server that has become a replica refuses it: then
// the connections are closed, which may lead to the new primary, and it is put once more,
// as is what others asked meanwhile and lost with a connection that was closed here. Of all
// that, nothing was done; what is lost otherwise may have been, and is not put again.
func (c *Client) ask(question func() rueidis.RedisResult) (answer rueidis.RedisResult) {
	began, refused := time.Now(), false
	for range askAtMost {
		answer = question()
		switch refusal := refusalOf(answer.Error()); {
		case refusal != nil && refusal.Code == readOnly && !refused:
			refused = true
			c.lines.hangUp()
		case !errors.Is(answer.NonRedisError(), net.ErrClosed) || !c.lines.hungSince(began.Add(-hangUpEvery)):
			return answer
		}
	}
	return answer
}

// read puts a question that changes nothing, and may be put again whatever became of it: as
// long as connections were closed here a moment ago, by the refusal of somebody's write.
func (c *Client) read(ctx context.Context, command func() rueidis.Completed) (answer rueidis.RedisResult) {
	began := time.Now()
	for range askAtMost {
		answer = c.Do(ctx, command())
		if answer.NonRedisError() == nil || ctx.Err() != nil || !c.lines.hungSince(began.Add(-hangUpEvery)) {
			break
		}
	}
	return answer
}

// write is ask of one command, which is made anew each time.
func (c *Client) write(ctx context.Context, command func() rueidis.Completed) rueidis.RedisResult {
	return c.ask(func() rueidis.RedisResult { return c.Do(ctx, command()) })
}

// run is ask of a script.
func (c *Client) run(ctx context.Context, script *rueidis.Lua, names, args []string) rueidis.RedisResult {
	return c.ask(func() rueidis.RedisResult { return script.Exec(ctx, c.Client, names, args) })
}

// onceMore has a question that only reads asked a second time, at once: the
// connection may have been closed by a server that was restarted long ago. What
// fails again, fails.
func onceMore(attempts int, _ rueidis.Completed, _ error) time.Duration {
	if attempts > 1 {
		return -1
	}
	return 0
}

// authorities are those of the system, and those of a PEM file.
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
