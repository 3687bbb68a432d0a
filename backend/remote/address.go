package remote

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"

	"frontdesk/mapping/sheet"
)

// newWire makes the wire to a service, and returns the path that all its calls begin with. It ignores
// proxies of the environment: calls go only where the sheet says.
func newWire(o *core, of *sheet.Service) (w *wire, base string, err error) {
	u, err := url.Parse(of.URL) // the sheet has checked it
	if err != nil {
		return nil, "", fmt.Errorf("the address of the service: %w", errors.Unwrap(err))
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	var config *tls.Config
	if u.Scheme == "https" {
		config = &tls.Config{ServerName: u.Hostname(), MinVersion: tls.VersionTLS12, ClientSessionCache: tls.NewLRUClientSessionCache(0)}
		if config.RootCAs, err = authorities(of.CAFile); err != nil {
			return nil, "", err
		}
	}
	p := newPool(net.JoinHostPort(u.Hostname(), port), config, of.Connections, o.Options)
	return &wire{pool: p, host: u.Host, maxAnswer: int(of.MaxAnswer), retries: of.Retries, random: o.Random, now: o.Now}, u.EscapedPath(), nil
}

// authorities are the system's certificate authorities and those in file.
func authorities(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	pem, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read ca_file: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("ca_file %s holds no certificate", file)
	}
	return pool, nil
}

// isHeader reports whether a text can be the value of a header.
func isHeader(s string) bool {
	for i := range len(s) {
		if s[i] < 0x21 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// failure makes an error of an unsuccessful answer. Its text is for the log.
func failure(ans *answer) error {
	err := fmt.Errorf("the service answered %d: %.300q", ans.status, ans.body)
	if ans.status >= http.StatusInternalServerError {
		return err
	}
	return unexpected(err)
}
