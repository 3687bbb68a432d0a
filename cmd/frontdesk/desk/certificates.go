package desk

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"frontdesk/config"
)

// certificates are the server's certificate, and the authorities that verify those of clients.
// They are read again when their files change; open connections keep the old ones.
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

// reload reads the files again and reports whether the certificate has changed. If the files cannot
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
		all, err := certificatesIn(file)
		if err != nil {
			return nil, "server.tls.client_ca_file", err
		}
		c.tls.ClientCAs = x509.NewCertPool()
		for _, authority := range all {
			c.tls.ClientCAs.AddCert(authority)
		}
		c.tls.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return c, "", nil
}

// certificatesIn reads the certificates of a PEM file.
func certificatesIn(file string) (all []*x509.Certificate, err error) {
	text, err := os.ReadFile(file)
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if c, err := x509.ParseCertificate(block.Bytes); err == nil {
			all = append(all, c)
		}
	}
	if err == nil && len(all) == 0 {
		err = errors.New(file + ": no certificate in PEM form is in it")
	}
	return all, err
}

// HasAuthority reports whether a PEM file has a certificate that may sign others. It returns true for a
// file that cannot be read: that is reported elsewhere.
func HasAuthority(file string) bool {
	all, err := certificatesIn(file)
	return err != nil || slices.ContainsFunc(all, func(c *x509.Certificate) bool { return c.IsCA || c.Version < 3 })
}

// CertificateOf reads the server's certificate; its key need not be readable.
func CertificateOf(files config.TLS) (*x509.Certificate, error) {
	all, err := certificatesIn(files.CertFile)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// serverConfig uses the current certificate for every new connection.
func (c *certificates) serverConfig() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return c.current.Load().tls, nil },
	}
}

// paths returns the files whose changes have to be noticed.
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

// CertificateHealth describes the certificate in force.
type CertificateHealth struct {
	Expires time.Time `json:"expires"`
	Error   string    `json:"error,omitempty"` // why its files cannot be used as they are
}

// certificateAhead is how long before its end a certificate is reported at most.
const certificateAhead = 14 * 24 * time.Hour

// CertificateEndsSoon reports whether a certificate ought to be renewed: it is in the last quarter of the
// time that it was made for.
func CertificateEndsSoon(c *x509.Certificate, now time.Time) bool {
	return c.NotAfter.Sub(now) <= min(certificateAhead, c.NotAfter.Sub(c.NotBefore)/4)
}

// judgeCertificate reports that the certificate in force has ended, ends soon, or cannot be read again.
func (h *Desk) judgeCertificate(now *Health) {
	if h.certificates == nil {
		return
	}
	leaf, at := h.certificates.current.Load().leaf(), time.Now()
	now.Certificate = &CertificateHealth{Expires: leaf.NotAfter}
	if err := h.reloads.state().certificate; err != nil {
		now.Certificate.Error = err.Error()
		now.degraded("the certificate before stays in use: %s", err)
	}
	switch end := leaf.NotAfter.In(h.config.Server.TimeZone.Location).Format(time.DateTime + " MST"); {
	case at.After(leaf.NotAfter):
		now.degraded("the certificate ended on %s: clients that look at it do not connect", end)
	case CertificateEndsSoon(leaf, at):
		now.degraded("the certificate ends on %s: clients that look at it will not connect then", end)
	}
}
