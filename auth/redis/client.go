package redis

import (
	"context"
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
type Client struct{ rueidis.Client }

// Open connects to the server. The error of a server that cannot be reached never
// holds its password.
func Open(o Options) (*Client, error) {
	option, err := rueidis.ParseURL(o.URL)
	if err != nil {
		return nil, errors.New("redis: the URL cannot be read: expected redis://user:password@host:6379, or rediss:// for TLS")
	}
	if o.CAFile != "" && option.TLSConfig != nil {
		if option.TLSConfig.RootCAs, err = authorities(o.CAFile); err != nil {
			return nil, fmt.Errorf("redis: %w", err)
		}
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
	client, err := rueidis.NewClient(option)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	return &Client{client}, nil
}

// Ready tells whether the server answers.
func (c *Client) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return c.Do(ctx, c.B().Ping().Build()).Error()
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
