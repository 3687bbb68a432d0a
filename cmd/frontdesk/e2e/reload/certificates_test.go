package reload

import (
	"bytes"
	"crypto/tls"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook/webhooktest"
)

// startCertified starts a desk with TLS, whose certificate lives for 101 days.
func startCertified(t *testing.T, watch bool) (k *rig.Kept, ca *webhooktest.Authority, certFile, keyFile string) {
	t.Helper()
	dir := t.TempDir()
	ca = webhooktest.NewAuthority(t)
	certFile, keyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	rig.WriteCertificate(t, ca, certFile, keyFile, 101)
	text := strings.Replace(rig.KeptConfig(t, rig.Engines[0].DSN(t), "", rig.KeptKey(`"GET /order"`)), "vendor: Example",
		"vendor: Example, tls: {cert_file: "+certFile+", key_file: "+keyFile+"}", 1)
	return rig.StartKept(t, filepath.Join(dir, "frontdesk.yaml"), text, watch), ca, certFile, keyFile
}

// TestCertificateReload replaces the certificate while connections are open.
func TestCertificateReload(t *testing.T) {
	k, ca, certFile, keyFile := startCertified(t, true)
	dir := filepath.Dir(certFile)
	// served asks over the transport's connection, or a new one, and returns how many
	// days the certificate lives that it was made with.
	served := func(transport *http.Transport) int {
		t.Helper()
		resp := must.Have((&http.Client{Transport: transport}).Get(k.Base + "/order"))(t)
		must.Have(io.Copy(io.Discard, resp.Body))(t)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 401, resp.StatusCode)
		return int(math.Round(time.Until(resp.TLS.PeerCertificates[0].NotAfter).Hours() / 24))
	}
	client := func() *http.Transport {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ca.Roots()}}
		t.Cleanup(transport.CloseIdleConnections)
		return transport
	}
	old := client()
	require.Equal(t, 101, served(old))

	rig.WriteCertificate(t, ca, certFile, keyFile, 102)
	await.True(t, func() bool {
		k.Timers.Pass(desk.LookEvery)
		return served(client()) == 102
	})
	require.Equal(t, 101, served(old), "a connection that is there lives on")
	k.RequireLogged(`"logger":"audit"`, `"certificate changed"`, `"expires":"`)
	require.Empty(t, k.Ready().Certificate.Error)

	// A pair that does not match, as while one of the two is being written.
	spare := filepath.Join(dir, "spare.pem")
	rig.WriteCertificate(t, ca, certFile, spare, 103)
	k.Signals <- syscall.SIGHUP
	await.True(t, func() bool { return k.Ready().Certificate.Error != "" })
	require.Equal(t, 102, served(client()))
	require.Equal(t, desk.HealthDegraded, k.Ready().Status)
	k.RequireLogged(`"level":"error"`, "certificate not reloaded", "private key does not match")
	require.False(t, bytes.Contains([]byte(k.Log.String()), must.Have(os.ReadFile(spare))(t)[40:80]))
	require.NoError(t, os.Rename(spare, keyFile))
	await.True(t, func() bool {
		k.Timers.Pass(desk.LookEvery)
		return k.Ready().Certificate.Error == "" && served(client()) == 103
	})
}
