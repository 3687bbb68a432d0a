package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority issues certificates for tests.
type authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	a := &authority{t: t}
	_, a.cert, a.key = a.issue(1, true, x509.ExtKeyUsageAny)
	return a
}

// issue returns a certificate for 127.0.0.1 with that serial number.
func (a *authority) issue(serial int64, isCA bool, usage x509.ExtKeyUsage) (der []byte, cert *x509.Certificate, key *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(a.t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "frontdesk test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(240 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{usage},
		BasicConstraintsValid: true, IsCA: isCA,
	}
	parent, signer := template, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err = x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	require.NoError(a.t, err)
	cert, err = x509.ParseCertificate(der)
	require.NoError(a.t, err)
	return der, cert, key
}

// write puts a certificate of that serial number, and its key, in place of those
// that are there.
func (a *authority) write(certFile, keyFile string, serial int64) {
	a.t.Helper()
	der, _, key := a.issue(serial, false, x509.ExtKeyUsageServerAuth)
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	require.NoError(a.t, err)
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: encoded}} {
		require.NoError(a.t, os.WriteFile(file+".new", pem.EncodeToMemory(block), 0o600))
		require.NoError(a.t, os.Rename(file+".new", file))
	}
}

// TestCertificateReload replaces the certificate while connections are open.
func TestCertificateReload(t *testing.T) {
	dir := t.TempDir()
	ca := newAuthority(t)
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	ca.write(certFile, keyFile, 1001)
	text := strings.Replace(keptConfig(t, engines[0].dsn(t), "", keptKey(`"GET /order"`)), "vendor: Example",
		"vendor: Example, tls: {cert_file: "+certFile+", key_file: "+keyFile+"}", 1)
	k := startKept(t, filepath.Join(dir, "frontdesk.yaml"), text)
	roots := x509.NewCertPool()
	roots.AddCert(ca.cert)
	// served asks over the transport's connection, or a new one, and returns the serial
	// number of the certificate that it was made with.
	served := func(transport *http.Transport) int64 {
		t.Helper()
		resp, err := (&http.Client{Transport: transport}).Get(k.base + "/order")
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, resp.Body)
		require.NoError(t, err)
		require.NoError(t, resp.Body.Close())
		require.Equal(t, 401, resp.StatusCode)
		return resp.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	client := func() *http.Transport {
		transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots}}
		t.Cleanup(transport.CloseIdleConnections)
		return transport
	}
	old := client()
	require.EqualValues(t, 1001, served(old))

	ca.write(certFile, keyFile, 1002)
	require.Eventually(t, func() bool {
		k.timers.pass(settleTime)
		return served(client()) == 1002
	}, patience, 10*time.Millisecond)
	require.EqualValues(t, 1001, served(old), "a connection that is there lives on")
	k.requireLogged(`"logger":"audit"`, `"certificate changed"`, `"serial":"3ea"`)
	require.Empty(t, k.ready().Certificate.Error)

	// A pair that does not match, as while one of the two is being written.
	spare := filepath.Join(dir, "spare.pem")
	ca.write(certFile, spare, 1003)
	k.signals <- syscall.SIGHUP
	require.Eventually(t, func() bool { return k.ready().Certificate.Error != "" }, patience, time.Millisecond)
	require.EqualValues(t, 1002, served(client()))
	require.Equal(t, healthDegraded, k.ready().Status)
	k.requireLogged(`"level":"error"`, "certificate not reloaded", "private key does not match")
	key, err := os.ReadFile(spare)
	require.NoError(t, err)
	require.False(t, bytes.Contains([]byte(k.log.String()), key[40:80]))
	require.NoError(t, os.Rename(spare, keyFile))
	require.Eventually(t, func() bool {
		k.timers.pass(settleTime)
		return k.ready().Certificate.Error == "" && served(client()) == 1003
	}, patience, 10*time.Millisecond)
}
