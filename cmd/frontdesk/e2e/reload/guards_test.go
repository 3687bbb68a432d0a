package reload

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook/webhooktest"
)

// guardedKey is the api_key whose guards are broken one after the other.
const guardedKey = "33333333-3333-4333-8333-333333333333"

// brokenGuards are what somebody would write who wants to keep others out, and got wrong:
// what stands in a right configuration, and what takes its place.
var brokenGuards = map[string][2]string{
	"an empty list of addresses is none":    {"addresses: [192.0.2.0/24]", "addresses: [192.0.2.0/33]"},
	"an address that is none":               {"addresses: [192.0.2.0/24]", "addresses: [intranet]"},
	"a list under another name":             {"addresses: [", "adresses: ["},
	"a certificate that is none":            {"client_certificates: [\"CERT\"]", "client_certificates: [\"SHA256:abc\"]"},
	"certificates that nobody asks for":     {", client_ca_file: CA", ""},
	"authorities that are not there":        {"client_ca_file: CA", "client_ca_file: CA.gone"},
	"authorities that are none":             {"client_ca_file: CA", "client_ca_file: EMPTY"},
	"an end that is no date":                {"expires: 2099-01-01", "expires: tomorrow"},
	"an entry that no endpoint has":         {"\"GET /order\"", "\"GET /orders\""},
	"an entry that is an expression":        {"\"GET /order\"", "\"GET /order.*\""},
	"fields beside an entry with all":       {"\"GET /order\"", "\"* /order\", GET /order: {without: [reference]}"},
	"a field that there is not":             {"\"GET /order\"", "GET /order: {without: [refrence]}"},
	"a star in the middle":                  {"\"GET /order\"", "\"GET /*/order\""},
	"a hash that is cut":                    {"key_sha256: [\"HASH\"]", "key_sha256: [\"0123abcd\"]"},
	"a rate that is none":                   {"per_second: 5, burst: 10", "per_second: 5rps, burst: 10"},
	"a proxy that is none":                  {"trusted_proxies: [10.0.0.1]", "trusted_proxies: [balancer]"},
	"a key twice":                           {"api_keys:\n", "api_keys:\n  - {name: guarded, key_sha256: [\"HASH\"], allow: [\"* /*\"]}\n"},
	"a secret that the environment has not": {"allow: [\"GET /order\"]", "allow: [\"GET /order\"]\n    webhook_secret: [\"${NOBODY_SET_THIS}\"]"},
}

// TestBrokenGuardsOpenNothing: where what keeps others out is written wrong, nothing is
// started, and what serves goes on with what was right.
func TestBrokenGuardsOpenNothing(t *testing.T) {
	dir := t.TempDir()
	server, clients := webhooktest.NewAuthority(t), webhooktest.NewAuthority(t)
	rig.WriteCertificate(t, server, filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem"), 10)
	ca, empty := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "empty.pem")
	require.NoError(t, os.WriteFile(ca, []byte(rig.Read(t, clients.File(t))), 0o600))
	require.NoError(t, os.WriteFile(empty, nil, 0o600))
	hash, ok := auth.HashKey(guardedKey)
	require.True(t, ok)
	dsn, otherDSN := rig.Engines[0].DSN(t), rig.Engines[0].DSN(t)
	text := rig.KeptConfig(t, dsn, "", fmt.Sprintf(`  - name: guarded
    key_sha256: ["HASH"]
    expires: 2099-01-01
    allow: ["GET /order"]
    addresses: [192.0.2.0/24]
    client_certificates: ["CERT"]
    rate: {per_second: 5, burst: 10}
%s`, rig.KeptKey(`"* /contact"`)[1:]))
	text = strings.Replace(text, "vendor: Example", fmt.Sprintf("vendor: Example, trusted_proxies: [10.0.0.1], tls: {cert_file: %q, key_file: %q, client_ca_file: CA}",
		filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")), 1)
	fill := func(text string) string {
		return strings.NewReplacer("HASH", fmt.Sprintf("%x", hash), "CERT", strings.Repeat("ab", 32), "CA", ca, "EMPTY", empty).Replace(text)
	}
	other := filepath.Join(dir, "other.yaml") // of another frontdesk, on another database
	write := func(text string) {
		require.NoError(t, os.WriteFile(other, []byte(strings.NewReplacer("OPS", "", dsn, otherDSN).Replace(fill(text))), 0o600))
	}
	write(text)
	require.True(t, serves(t, other), "all is right")
	k := rig.StartKept(t, filepath.Join(dir, "frontdesk.yaml"), fill(text), false)
	k.HTTP.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: server.Roots()}}
	token := k.Login(rig.FullKey, "demo")
	shut := func(what string) {
		t.Helper()
		require.Equal(t, 200, k.Status("GET", "/contact/1", token), what)
		require.Equal(t, 400, k.Status("GET", "/order/1", token), what)
		require.Equal(t, 401, k.Status("GET", "/openapi.json?api_key="+guardedKey, ""), what) // a login would be slowed
	}
	unguarded := strings.Replace(strings.Replace(text, "    addresses: [", "    #", 1), "    client_certificates: ", "    #", 1)
	k.Write(fill(unguarded))
	k.HangUp()
	require.Equal(t, 200, k.Status("GET", "/openapi.json?api_key="+guardedKey, ""), "the guards are what keeps it shut")
	k.Write(fill(text))
	k.HangUp()
	shut("all is right")
	for what, change := range brokenGuards {
		wrong := strings.Replace(text, change[0], change[1], 1)
		require.NotEqual(t, text, wrong, what)
		write(wrong)
		require.False(t, serves(t, other), what)

		k.Write(fill(wrong))
		k.HangUp()
		require.True(t, k.Ready().Status != desk.HealthOK || len(k.Ready().Config.NeedsRestart) > 0, what)
		shut(what)
		k.Write(fill(text))
		k.HangUp()
		require.Equal(t, desk.HealthOK, k.Ready().Status, what)
	}
	// Authorities that are cut while the desk serves.
	require.NoError(t, os.WriteFile(ca, nil, 0o600))
	k.Signals <- syscall.SIGHUP
	await.True(t, func() bool { return k.Ready().Certificate.Error != "" })
	shut("authorities that were cut")
}

// serves reports whether a frontdesk comes to serve by that file, or ends by itself.
func serves(t *testing.T, file string) bool {
	t.Helper()
	binary := rig.Binary(t) // which may have to be built
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	serve := exec.CommandContext(ctx, binary, "serve", "--config", file)
	var problems bytes.Buffer
	serve.Stderr = &problems
	out := must.Have(serve.StdoutPipe())(t)
	require.NoError(t, serve.Start())
	line, _ := bufio.NewReader(out).ReadString('\n') // nothing where it ends
	cancel()
	require.Error(t, serve.Wait())
	require.NotContains(t, problems.String(), "panic")
	return strings.HasPrefix(line, "ready: ")
}
