package auth

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/wneessen/go-mail"
)

var _ Mailer = (*SMTPMailer)(nil)

const (
	submissionPort = 587
	smtpsPort      = 465
	mailTimeout    = 15 * time.Second // to connect, and for each command
)

// SMTPConfig is what an SMTPMailer is made of.
type SMTPConfig struct {
	// URL is smtp://user:pass@host:587 (STARTTLS) or smtps://user:pass@host:465
	// (TLS from the start). User and password may be left out, and so may the
	// ports shown. Without credentials, smtp:// to this very host goes in the
	// clear, as a local relay expects; to any other host STARTTLS is required.
	URL string

	From   string      // address, or "Name <address>"
	TLS    *tls.Config // nil = the system's roots, TLS 1.2 or later
	Clock  func() time.Time
	Random io.Reader
}

// SMTPMailer hands mail to a mail server, one connection each. It uses go-mail
// rather than net/smtp, which is frozen, sets no deadlines, knows no SCRAM, and
// would leave the encoding of headers and bodies to us.
type SMTPMailer struct {
	letterhead
	host    string
	options []mail.Option
	dial    func(ctx context.Context, network, address string) (net.Conn, error)
}

// NewSMTPMailer returns a mailer, or an error when the URL or the sender cannot
// be used. It does not connect. The error does not repeat the URL.
func NewSMTPMailer(c SMTPConfig) (*SMTPMailer, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		// Without the cause: it repeats the URL and the password in it.
		return nil, errors.New("auth: mail server is not a URL")
	}
	m := &SMTPMailer{letterhead: letterhead{from: c.From, clock: c.Clock, random: c.Random}, host: u.Hostname()}
	config := tlsConfig(c.TLS, m.host)
	if m.options, err = smtpOptions(u, config); err != nil {
		return nil, err
	}
	m.dial = (&net.Dialer{}).DialContext
	if u.Scheme == "smtps" {
		m.dial = (&tls.Dialer{Config: config}).DialContext
	}
	// Both are used for each mail; better to report a fault in them now.
	if _, err := m.compose(Mail{To: c.From}); err != nil {
		return nil, err
	}
	if _, err := mail.NewClient(m.host, m.options...); err != nil {
		return nil, fmt.Errorf("auth: mail server: %w", err)
	}
	return m, nil
}

// Send implements Mailer.
func (m *SMTPMailer) Send(ctx context.Context, letter Mail) error {
	msg, err := m.compose(letter)
	if err != nil {
		return err
	}
	hangUp := func() {}
	defer func() { hangUp() }()
	// The library watches the context while it dials only, and leaves a
	// connection open whose greeting failed. So it is given one of ours.
	dial := func(dialing context.Context, network, address string) (net.Conn, error) {
		conn, err := m.dial(dialing, network, address)
		if err != nil {
			return nil, err
		}
		stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
		hangUp = func() {
			stop()
			_ = conn.Close()
		}
		return conn, nil
	}
	client, err := mail.NewClient(m.host, append(slices.Clip(m.options), mail.WithDialContextFunc(dial))...)
	if err != nil {
		return fmt.Errorf("auth: mail server: %w", err)
	}
	if err := client.DialAndSendWithContext(ctx, msg); err != nil {
		return fmt.Errorf("auth: send mail: %w", errors.Join(ctx.Err(), err))
	}
	return nil
}

func tlsConfig(given *tls.Config, host string) *tls.Config {
	config := given.Clone()
	if config == nil {
		config = &tls.Config{MinVersion: tls.VersionTLS12}
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	return config
}

func smtpOptions(u *url.URL, config *tls.Config) ([]mail.Option, error) {
	if u.Hostname() == "" || (u.Path != "" && u.Path != "/") || u.RawQuery != "" || u.Fragment != "" {
		return nil, errors.New("auth: mail server must be smtp://user:pass@host:port or smtps://…")
	}
	options := []mail.Option{mail.WithTimeout(mailTimeout), mail.WithTLSConfig(config)}
	port := submissionPort
	switch {
	case u.Scheme == "smtps":
		port = smtpsPort
		options = append(options, mail.WithTLSPolicy(mail.NoTLS)) // m.dial does the TLS
	case u.Scheme != "smtp":
		return nil, fmt.Errorf("auth: mail server has scheme %q: must be smtp or smtps", u.Scheme)
	case u.User == nil && isThisHost(u.Hostname()):
		options = append(options, mail.WithTLSPolicy(mail.NoTLS))
	default:
		options = append(options, mail.WithTLSPolicy(mail.TLSMandatory))
	}
	if text := u.Port(); text != "" {
		var err error
		if port, err = strconv.Atoi(text); err != nil {
			return nil, errors.New("auth: mail server has a port that is no number")
		}
	}
	options = append(options, mail.WithPort(port))
	if u.User != nil {
		password, _ := u.User.Password()
		// Not AutoDiscover, which sees no TLS in a connection of ours.
		options = append(options,
			mail.WithOpportunisticSMTPAuth(mail.SMTPAuthSCRAMSHA256, mail.SMTPAuthSCRAMSHA1, mail.SMTPAuthPlain, mail.SMTPAuthLogin),
			mail.WithUsername(u.User.Username()), mail.WithPassword(password))
	}
	return options, nil
}

func isThisHost(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
