package redistest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Password is that of the servers that demand one.
const Password = "open-sesame"

// StartTLS returns the URL of a server that demands TLS and a password, and the
// PEM file of the authority that signed it.
func StartTLS(t testing.TB) (url, caFile string) {
	t.Helper()
	certificate, key := SelfSigned(t)
	r := start(t, func(port string) []string {
		return []string{
			"--port", "0", "--tls-port", port, "--tls-auth-clients", "no", "--requirepass", Password,
			"--tls-cert-file", certificate, "--tls-key-file", key, "--tls-ca-cert-file", certificate,
		}
	}, "eady to accept connections")
	return fmt.Sprintf("rediss://:%s@127.0.0.1:%d", Password, r.port), certificate
}

// SelfSigned writes a certificate of 127.0.0.1, and its key.
func SelfSigned(t testing.TB) (certificateFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return write("certificate.pem", "CERTIFICATE", certificate), write("key.pem", "PRIVATE KEY", secret)
}
