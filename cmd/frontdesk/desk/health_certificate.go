package desk

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"time"

	"frontdesk/config"
)

// CertificateHealth tells of the certificate in force.
type CertificateHealth struct {
	Expires time.Time `json:"expires"`
	Error   string    `json:"error,omitempty"` // why its files cannot be used as they are
}

// certificateAhead is how long ahead the end of a certificate is told at most.
const certificateAhead = 14 * 24 * time.Hour

// CertificateEndsSoon tells whether an end that is still to come is to be told: in the last
// quarter of the time that the certificate was made for, when it ought to be renewed.
func CertificateEndsSoon(c *x509.Certificate, now time.Time) bool {
	return c.NotAfter.Sub(now) <= min(certificateAhead, c.NotAfter.Sub(c.NotBefore)/4)
}

// judgeCertificate looks at the certificate in force.
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

// CertificateOf reads the server's certificate, whose key need not be readable.
func CertificateOf(files config.TLS) (*x509.Certificate, error) {
	text, err := os.ReadFile(files.CertFile)
	if err != nil {
		return nil, err
	}
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			return x509.ParseCertificate(block.Bytes)
		}
	}
	return nil, errors.New(files.CertFile + ": no certificate in PEM form is in it")
}
