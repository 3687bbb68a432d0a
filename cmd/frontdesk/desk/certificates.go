package desk

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"time"

	"frontdesk/config"
)

// certificates are the server's certificate, and the authorities that verify those of clients.
// They are read again when their files change; open connections keep theirs.
type certificates struct {
	files   config.TLS
	current atomic.Pointer[certified]
}

// certified is what the files held when they were last read.
type certified struct {
	tls    *tls.Config
	serial string
	until  time.Time // when the server's certificate expires
}

func (c *certified) leaf() *x509.Certificate { return c.tls.Certificates[0].Leaf }

// openCertificates reads the files.
func openCertificates(files config.TLS) (*certificates, error) {
	c := &certificates{files: files}
	_, err := c.reload()
	return c, err
}

// reload reads the files again and tells whether the certificate has changed. If the files cannot
// be used, what was read before stays in use.
func (c *certificates) reload() (renewed bool, err error) {
	next, setting, err := readCertificates(c.files)
	if err != nil {
		return false, fmt.Errorf("%s: %w", setting, err)
	}
	before := c.current.Swap(next)
	return before == nil || !before.leaf().Equal(next.leaf()), nil
}

// readCertificates reads the files; errors name setting.
func readCertificates(files config.TLS) (c *certified, setting string, err error) {
	cert, err := os.ReadFile(files.CertFile)
	if err != nil {
		return nil, "server.tls.cert_file", err
	}
	key, err := os.ReadFile(files.KeyFile)
	if err != nil {
		return nil, "server.tls.key_file", err
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, "server.tls", fmt.Errorf("%s and %s are no certificate and its key: %w", files.CertFile, files.KeyFile, err)
	}
	c = &certified{
		tls:    &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12},
		serial: pair.Leaf.SerialNumber.Text(16), until: pair.Leaf.NotAfter,
	}
	if file := files.ClientCAFile; file != "" {
		if c.tls.ClientCAs, err = authorities(file); err != nil {
			return nil, "server.tls.client_ca_file", err
		}
		c.tls.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return c, "", nil
}

// authorities reads a PEM file of certificates.
func authorities(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, errors.New(file + ": no certificate in PEM form is in it")
	}
	return pool, nil
}

// HasAuthority tells whether a PEM file has a certificate that may sign others. It is true of a file
// that cannot be read, which is told elsewhere.
func HasAuthority(file string) bool {
	text, err := os.ReadFile(file)
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil && (c.IsCA || c.Version < 3) {
			return true
		}
	}
	return err != nil
}

// serverConfig uses the current certificate for every new connection.
func (c *certificates) serverConfig() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load().tls, nil },
	}
}

// paths are the files that a change of has to be noticed.
func (c *certificates) paths() []string {
	all := []string{c.files.CertFile, c.files.KeyFile}
	if c.files.ClientCAFile != "" {
		all = append(all, c.files.ClientCAFile)
	}
	return all
}

// keyPairDigest identifies the contents of the certificate's files; "" without TLS.
func (h *Desk) keyPairDigest() string {
	if h.certificates == nil {
		return ""
	}
	return digestOf(h.certificates.paths()...)
}
