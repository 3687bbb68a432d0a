package rig

import (
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/gateway/webhook/webhooktest"
)

// WriteCertificate puts a certificate for this machine that lives for so many days,
// and its key, in place of those that are there.
func WriteCertificate(t testing.TB, ca *webhooktest.Authority, certFile, keyFile string, days int) {
	t.Helper()
	WriteCertificateUntil(t, ca, certFile, keyFile, time.Now().AddDate(0, 0, days))
}

// WriteCertificateUntil writes one that ends then, and began two hours ago.
func WriteCertificateUntil(t testing.TB, ca *webhooktest.Authority, certFile, keyFile string, ends time.Time) {
	t.Helper()
	pair := ca.Issue(t, "127.0.0.1", ends)
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	require.NoError(t, err)
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		require.NoError(t, os.WriteFile(file+".new", pem.EncodeToMemory(block), 0o600))
		require.NoError(t, os.Rename(file+".new", file))
	}
}

// RemoteSheets is a file beside the sheets of the services and their exceptions.
func RemoteSheets(t testing.TB, file string) string {
	return Repository(t, "backend", "remote", "testdata", filepath.FromSlash(file))
}

// Read returns what a file holds.
func Read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// PasswordHash is a hash of a password that takes next to no time to compute, where one
// of auth.Hasher takes twenty milliseconds: desks verify it at the cost that it names.
func PasswordHash(password string) string {
	hash, err := argon2id.CreateHash(password, &argon2id.Params{Memory: 8, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32})
	if err != nil {
		panic(err) // there is no randomness
	}
	return hash
}

// PackageTools reports whether tests run that fetch tools of other projects as Go
// modules: FRONTDESK_REQUIRE names packages.
func PackageTools(t *testing.T) {
	t.Helper()
	if !sqltest.Required(t, "packages") {
		t.Skip("FRONTDESK_REQUIRE does not name packages: no tools are fetched for them")
	}
}

// Repository is the path of a file of the repository.
func Repository(t testing.TB, parts ...string) string {
	t.Helper()
	return sqltest.Repository(parts...)
}

// DealerPak are the options of a desk before the vendor's database of legacytest; values are what
// else is different in its sheet.
func DealerPak(t testing.TB, engine, dsn string, values ...string) Options {
	t.Helper()
	files, err := legacytest.Files()
	require.NoError(t, err)
	o, _ := BySheet(t, "legacy", Read(t, filepath.Join(files, engine+".yaml")), append(values, "${DEALERPAK_DSN}", dsn)...)
	return o
}

// GarageCloud is the same of the service of remotetest, at an address and with its secret; no call of it ends for want of time.
func GarageCloud(t testing.TB, url, secret string, values ...string) Options {
	t.Helper()
	o, _ := BySheet(t, "remote", Read(t, RemoteSheets(t, "garagecloud.yaml")), append(values, "timeout: 5s", "timeout: "+Patience.String(), "${GARAGE_URL}", url, "${GARAGE_SECRET}", secret)...)
	return o
}
