package auth_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
)

// pythonWithServer returns a Python that has the mail server (Debian:
// python3-aiosmtpd), or skips the test. Debian's own is tried as well, as another
// may stand before it.
func pythonWithServer(t *testing.T) string {
	t.Helper()
	sqltest.Takes(t, "aiosmtpd")
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import aiosmtpd").Run() == nil {
			return python
		}
	}
	sqltest.Missing(t, "aiosmtpd", "python3-aiosmtpd is not installed")
	return ""
}

// startServer runs a real mail server and returns its address and what it
// prints.
func startServer(t *testing.T, python string, mode ...string) (address string, lines *bufio.Scanner) {
	t.Helper()
	server := exec.Command(python, append([]string{"testdata/smtpd.py"}, mode...)...)
	server.Stderr = os.Stderr
	out, err := server.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	lines = bufio.NewScanner(out)
	require.True(t, lines.Scan())
	return "127.0.0.1:" + lines.Text(), lines
}

func smtpMailer(t *testing.T, url string, roots *x509.CertPool) *auth.SMTPMailer {
	t.Helper()
	config := auth.SMTPConfig{URL: url, From: "Example <noreply@example.nl>", Clock: authtest.NewClock().Now, Random: rand.Reader}
	if roots != nil {
		config.TLS = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	m, err := auth.NewSMTPMailer(config)
	require.NoError(t, err)
	return m
}

func TestForeignSMTPMailer(t *testing.T) {
	python := pythonWithServer(t)
	cert, key := redistest.SelfSigned(t)
	authority, err := os.ReadFile(cert)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(authority))
	tests := []struct {
		name   string
		server []string
		scheme string // with the login, where one is given
		roots  *x509.CertPool
		want   string // the server's line; "" = refused
	}{
		{"a relay on this host, in the clear", []string{"plain"}, "smtp://", nil, "tls False"},
		{"credentials go under STARTTLS", []string{"starttls", cert, key}, "smtp://anna:s3cret@", roots, "tls True"},
		{"TLS from the start", []string{"smtps", cert, key}, "smtps://anna:s3cret@", roots, "tls False"},
		{"a wrong login", []string{"starttls", cert, key}, "smtp://anna:wrong-one@", roots, ""},
		{"an unknown certificate", []string{"starttls", cert, key}, "smtp://anna:s3cret@", nil, ""},
		{"no STARTTLS offered", []string{"plain"}, "smtp://anna:s3cret@", roots, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			address, lines := startServer(t, python, test.server...)
			m := smtpMailer(t, test.scheme+address, test.roots)
			err := m.Send(t.Context(), auth.Mail{To: "anna@example.nl", Subject: "Één onderwerp", Text: "een\n.twee\n"})
			if test.want == "" {
				require.Error(t, err)
				require.NotContains(t, err.Error(), "s3cret")
				require.NotContains(t, err.Error(), "wrong-one")
				return
			}
			require.NoError(t, err)
			require.True(t, lines.Scan())
			require.Equal(t, "from noreply@example.nl to anna@example.nl "+test.want, lines.Text())
			require.True(t, lines.Scan())
			require.Contains(t, lines.Text(), `een\r\n.twee\r\n`)
			require.Contains(t, lines.Text(), `Subject: =?UTF-8?q?=C3=89=C3=A9n_onderwerp?=`)
		})
	}
}

func TestSMTPMailerReportsAServerThatIsNotThere(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	address := closed.Addr().String()
	require.NoError(t, closed.Close())
	err = smtpMailer(t, "smtp://"+address, nil).Send(t.Context(), auth.Mail{To: "anna@example.nl"})
	require.Error(t, err)
	require.True(t, strings.HasPrefix(err.Error(), "auth: send mail: "), err)
}

func TestSMTPMailerHonoursTheContext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	hungUp := make(chan error)
	go func() {
		conn, err := silent.Accept()
		if err == nil {
			cancel() // connected, and never a greeting
			_, err = conn.Read(make([]byte, 1))
			_ = conn.Close()
		}
		hungUp <- err
	}()
	err = smtpMailer(t, "smtp://"+silent.Addr().String(), nil).Send(ctx, auth.Mail{To: "anna@example.nl"})
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorIs(t, <-hungUp, io.EOF)
}
