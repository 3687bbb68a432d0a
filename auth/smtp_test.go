package auth_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/mail"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/auth/authtest"
	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig/must"
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
	out := must.Have(server.StdoutPipe())(t)
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
	return must.Have(auth.NewSMTPMailer(config))(t)
}

func TestForeignSMTPMailer(t *testing.T) {
	python := pythonWithServer(t)
	cert, key := redistest.SelfSigned(t)
	authority := must.Have(os.ReadFile(cert))(t)
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
	silent := must.Have(net.Listen("tcp", "127.0.0.1:0"))(t)
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
	require.ErrorIs(t, smtpMailer(t, "smtp://"+silent.Addr().String(), nil).Send(ctx, auth.Mail{To: "anna@example.nl"}), context.Canceled)
	require.ErrorIs(t, <-hungUp, io.EOF)
}

func TestFolderMailer(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data", "mail")
	clock := authtest.NewClock()
	m := must.Have(auth.NewFolderMailer(folder, "Example <noreply@example.nl>", clock.Now, rand.Reader))(t)
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			link := "https://api.example.nl/" + strings.Repeat("x", 90) + "?reset=abc"
			if err := m.Send(t.Context(), auth.Mail{To: "anna@example.nl", Subject: "Één onderwerp", Text: link + "\n"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()

	entries := must.Have(os.ReadDir(folder))(t)
	require.Len(t, entries, 10)
	for _, entry := range entries {
		require.Equal(t, ".eml", filepath.Ext(entry.Name()))
		info := must.Have(entry.Info())(t)
		require.Equal(t, os.FileMode(0o600), info.Mode())
		text := must.Have(os.ReadFile(filepath.Join(folder, entry.Name())))(t)
		require.Contains(t, string(text), "x?reset=abc\r\n", "the link is in one piece")
		letter := must.Have(mail.ReadMessage(strings.NewReader(string(text))))(t)
		require.Equal(t, "<anna@example.nl>", letter.Header.Get("To"))
		require.Equal(t, `"Example" <noreply@example.nl>`, letter.Header.Get("From"))
		require.Regexp(t, `^<[0-9a-f]{32}@example\.nl>$`, letter.Header.Get("Message-Id"))
		date := must.Have(letter.Header.Date())(t)
		require.Equal(t, clock.Now().Unix(), date.Unix())
	}
}

func TestFolderMailerRefuses(t *testing.T) {
	folder := t.TempDir()
	require.Error(t, must.Fail(auth.NewFolderMailer(folder, "nobody", authtest.NewClock().Now, rand.Reader)))
	m := must.Have(auth.NewFolderMailer(folder, "noreply@example.nl", authtest.NewClock().Now, rand.Reader))(t)
	require.Error(t, m.Send(t.Context(), auth.Mail{To: "anna@example.nl\r\nBcc: eve@example.nl"}))
	entries := must.Have(os.ReadDir(folder))(t)
	require.Empty(t, entries)
}

func TestNewSMTPMailerJudgesItsConfig(t *testing.T) {
	tests := []struct {
		url, from string
		good      bool
	}{
		{"smtp://user:secret@mail.example.nl:587", "noreply@example.nl", true},
		{"smtps://mail.example.nl", "Example <noreply@example.nl>", true},
		{"smtp://localhost", "noreply@example.nl", true},
		{"smtp://[::1]:2525/", "noreply@example.nl", true},
		{"smtp://mail.example.nl", "noreply", false},
		{"http://mail.example.nl", "noreply@example.nl", false},
		{"smtp://user:secret@", "noreply@example.nl", false},
		{"smtp://user:secret@mail.example.nl:99999", "noreply@example.nl", false},
		{"smtp://user:secret@mail.example.nl?tls=no", "noreply@example.nl", false},
		{"smtp://user:sec%ret@mail.example.nl", "noreply@example.nl", false},
	}
	for _, test := range tests {
		_, err := auth.NewSMTPMailer(auth.SMTPConfig{
			URL: test.url, From: test.from, Clock: authtest.NewClock().Now, Random: rand.Reader,
		})
		require.Equal(t, test.good, err == nil, "%s: %v", test.url, err)
		if err != nil {
			require.NotContains(t, err.Error(), "sec")
		}
	}
}
