package bounds

import (
	"crypto/sha256"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook/webhooktest"
)

// secureDesk serves over TLS, and asks for certificates of clients.
type secureDesk struct {
	*rig.Desk
	server, clients *webhooktest.Authority
}

func startSecureDesk(t *testing.T, keys func(clients *webhooktest.Authority) string) *secureDesk {
	t.Helper()
	s := &secureDesk{server: webhooktest.NewAuthority(t), clients: webhooktest.NewAuthority(t)}
	cert, key := filepath.Join(t.TempDir(), "cert.pem"), filepath.Join(t.TempDir(), "key.pem")
	rig.WriteCertificate(t, s.server, cert, key, 1)
	s.Desk = rig.OnSQLite(t, rig.Options{
		Server: fmt.Sprintf("  tls: {cert_file: %q, key_file: %q, client_ca_file: %q}", cert, key, s.clients.File(t)),
		Keys:   keys(s.clients),
	})
	return s
}

// with is a client that shows these certificates, one after the other as the
// server asks, and keeps its connections.
func (s *secureDesk) with(shown ...tls.Certificate) *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: s.server.Roots()}}
	if len(shown) > 0 { // whatever authorities the server names
		transport.TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &shown[0], nil }
	}
	s.T.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// ask sends a GET by that client.
func (s *secureDesk) ask(client *http.Client, path, token string) (rig.Answer, error) {
	req := must.Have(http.NewRequest(http.MethodGet, s.Base+path, nil))(s.T)
	if token != "" {
		req.Header.Set("token", token)
	}
	resp, err := client.Do(req)
	if err != nil {
		return rig.Answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return rig.Answer{Status: resp.StatusCode, Header: resp.Header, Body: body}, err
}

func (s *secureDesk) mustAsk(client *http.Client, path, token string) rig.Answer {
	s.T.Helper()
	a := must.Have(s.ask(client, path, token))(s.T)
	a.Judge(s.T, path)
	return a
}

func TestKeyCertificates(t *testing.T) {
	t.Parallel()
	var mine, others tls.Certificate
	s := startSecureDesk(t, func(clients *webhooktest.Authority) string {
		mine, others = clients.IssueClient(t, time.Now().Add(time.Hour)), clients.IssueClient(t, time.Now().Add(time.Hour))
		return bound(fmt.Sprintf("client_certificates: [\"%x\"]", sha256.Sum256(mine.Certificate[0])))
	})
	holder := s.with(mine)
	login := rig.LoginPath(boundKey, "demo", "demo")
	a := s.mustAsk(holder, login, "")
	require.Equal(t, 200, a.Status, "%s", a.Body)
	token := string(a.Body[len(`{"token":"`):][:36])
	for range 3 { // the connection is kept
		require.Equal(t, 200, s.mustAsk(holder, "/contact/1", token).Status)
	}
	t.Run("another connection", func(t *testing.T) {
		require.Equal(t, 200, s.mustAsk(s.with(mine), "/contact/1", token).Status)
	})
	description := "/openapi.json?api_key=" + boundKey
	require.Equal(t, 200, s.mustAsk(holder, description, "").Status)

	for name, client := range map[string]*http.Client{"no certificate": s.with(), "another certificate": s.with(others)} {
		t.Run(name, func(t *testing.T) {
			for _, a := range []rig.Answer{s.mustAsk(client, login, ""), s.mustAsk(client, "/contact/1", token), s.mustAsk(client, description, "")} {
				require.Equal(t, 401, a.Status, "%s", a.Body)
				e := a.Failure(t)
				require.Equal(t, "Not authorized", e.Message)
				require.Equal(t, "certificate", s.Accessed(e.RequestID).Cause)
			}
			// A key that is bound to none needs none.
			require.Equal(t, 200, s.mustAsk(client, rig.LoginPath(rig.FullKey, "demo", "demo"), "").Status)
		})
	}
	stranger := webhooktest.NewAuthority(t).IssueClient(t, time.Now().Add(time.Hour))
	for name, shown := range map[string]tls.Certificate{
		"another authority": stranger,
		"expired":           s.clients.IssueClient(t, time.Now().Add(-time.Minute)),
		"of a server":       s.clients.Issue(t, "127.0.0.1", time.Now().Add(time.Hour)),
	} {
		t.Run(name, func(t *testing.T) { // there is no connection at all
			require.Error(t, must.Fail(s.ask(s.with(shown), login, "")))
		})
	}
	await.True(t, func() bool { // and no request whose line could tell why
		return strings.Count(s.Log.String(), "the client's certificate does not hold") >= 3
	})
	require.Equal(t, 200, s.mustAsk(holder, "/contact/1", token).Status)

	// A TLS session goes on in a second connection, where no certificate is sent again.
	again := s.with(mine)
	transport := again.Transport.(*http.Transport)
	transport.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(4)
	for range 2 {
		require.Equal(t, 200, s.mustAsk(again, login, "").Status)
		transport.CloseIdleConnections()
	}
}
