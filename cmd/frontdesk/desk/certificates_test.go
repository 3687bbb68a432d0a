package desk

import (
	"crypto/x509"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestCertificateEndsSoon: two weeks ahead, and later of those that live for days: they are renewed
// often, and all is well until they ought to have been.
func TestCertificateEndsSoon(t *testing.T) {
	const day = 24 * time.Hour
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		life, left time.Duration
		want       bool
	}{{365 * day, 15 * day, false}, {365 * day, 14 * day, true}, {90 * day, 22 * day, false}, {45 * day, 12 * day, false}, {45 * day, 11 * day, true}, {6 * day, 2 * day, false}, {6 * day, day, true}} {
		leaf := &x509.Certificate{NotBefore: now.Add(c.left - c.life), NotAfter: now.Add(c.left)}
		require.Equal(t, c.want, CertificateEndsSoon(leaf, now), "%v of %v left", c.left, c.life)
	}
}
