package main

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
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

	"frontdesk/gateway/webhook/webhooktest"
)

// writeCertificate puts a certificate for this machine that lives for so many days,
// and its key, in place of those that are there.
func writeCertificate(t testing.TB, ca *webhooktest.Authority, certFile, keyFile string, days int) {
	t.Helper()
	pair := ca.Issue(t, "127.0.0.1", time.Now().AddDate(0, 0, days))
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		require.NoError(t, os.WriteFile(file+".new", pem.EncodeToMemory(block), 0o600))
		require.NoError(t, os.Rename(file+".new", file))
	}
}

// TestCertificateReload replaces the certificate while connections are open.
func TestCertificateReload(t *testing.T) {
	dir := t.TempDir()
	ca := webhooktest.NewAuthority(t)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, ca, certFile, keyFile, 101)
	text := strings.Replace(keptConfig(t, engines[0].dsn(t), "", keptKey(`"GET /order"`)), "vendor: Example",
		"vendor: Example, tls: {cert_file: "+certFile+", key_file: "+keyFile+"}", 1)
	k := startKept(t, filepath.Join(dir, "frontdesk.yaml"), text, true)
	// served asks over the transport's connection, or a new one, and returns how many
	// days the certificate lives that it was made with.
	served := func(transport *http.Transport) int {
		t.Helper()
		resp, err := (&http.Client{Transport: transport}).Get(k.base + "/order")
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
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

	writeCertificate(t, ca, certFile, keyFile, 102)
	require.Eventually(t, func() bool {
		k.timers.pass(settleTime)
		return served(client()) == 102
	}, patience, 10*time.Millisecond)
	require.Equal(t, 101, served(old), "a connection that is there lives on")
	k.requireLogged(`"logger":"audit"`, `"certificate changed"`, `"expires":"`)
	require.Empty(t, k.ready().Certificate.Error)

	// A pair that does not match, as while one of the two is being written.
	spare := filepath.Join(dir, "spare.pem")
	writeCertificate(t, ca, certFile, spare, 103)
	k.signals <- syscall.SIGHUP
	require.Eventually(t, func() bool { return k.ready().Certificate.Error != "" }, patience, time.Millisecond)
	require.Equal(t, 102, served(client()))
	require.Equal(t, healthDegraded, k.ready().Status)
	k.requireLogged(`"level":"error"`, "certificate not reloaded", "private key does not match")
	key, err := os.ReadFile(spare)
	require.NoError(t, err)
	require.False(t, bytes.Contains([]byte(k.log.String()), key[40:80]))
	require.NoError(t, os.Rename(spare, keyFile))
	require.Eventually(t, func() bool {
		k.timers.pass(settleTime)
		return k.ready().Certificate.Error == "" && served(client()) == 103
	}, patience, 10*time.Millisecond)
}
