package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

// TestDifferences: what a change means, and not how it is written, as one program tells another.
func TestDifferences(t *testing.T) {
	const hash, other = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c", "c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"
	endpoints := []config.Endpoint{{Method: "GET", Path: "/order"}, {Method: "POST", Path: "/order"}, {Method: "GET", Path: "/vehicle"}}
	known := config.Known{
		Endpoints: func(*config.Config) ([]config.Endpoint, error) { return endpoints, nil },
		Env:       func(string) (string, bool) { return "canary-of-a-variable", true },
	}
	read := func(text string) (settings []config.Setting) {
		c, err := config.Parse("frontdesk.yaml", []byte("backend: {dsn: 'postgres://u:canary@db/x'}\n"+text), known)
		require.NoError(t, err)
		sent, err := json.Marshal(c.Settings())
		require.NoError(t, err)
		require.NotContains(t, string(sent), "canary")
		require.NotContains(t, string(sent), hash)
		require.NoError(t, json.Unmarshal(sent, &settings))
		return settings
	}
	const key = "api_keys:\n  - name: webshop\n    key_sha256: [HASH]\n    allow: [ALLOW]\n"
	one := func(allow string) string { return strings.NewReplacer("HASH", hash, "ALLOW", allow).Replace(key) }
	for _, c := range []struct {
		from, to string
		want     []string
	}{
		{one(`"* /order"`), one(`"GET /order", "POST /order"`), []string{"webshop: its allowlist is written otherwise, and allows the same"}},
		{one(`"* /order"`), one(`"GET /*"`), []string{"webshop: gains GET /vehicle", "webshop: loses POST /order"}},
		{one(`"GET /order"`) + "    rate: {per_second: 1, burst: 2}\n", one(`"GET /order"`) + "    expires: 2020-01-01\n", []string{
			"webshop: expires: + 2020-01-02T00:00:00+01:00", "webshop: rate: - {per_second: 1, burst: 2}"}},
		{one(`"GET /order"`), strings.ReplaceAll(one(`"GET /order"`), hash, other), []string{"webshop: key_sha256: {hash: e8d95748…} → {hash: c8f367a8…}"}},
		{one(`"GET /order"`), "server: {listen: '0.0.0.0:8080', vendor: '${VENDOR}'}\n", []string{
			"server.listen: 127.0.0.1:8080 → 0.0.0.0:8080 (restart)", "server.vendor: frontdesk → ${VENDOR} (restart)", "webshop: is removed: its api_keys are refused, its sessions end"}},
		{"webhooks: {ports: [443, 444]}\n", "webhooks: {ports: [443, 445, 446]}\n", []string{"webhooks.ports: - 444 (restart)", "webhooks.ports: + 445 (restart)", "webhooks.ports: + 446 (restart)"}},
		{"", one(`"GET /order"`) + "    webhook_secret: [canary]\n", []string{"webshop: is new", "webshop: key_sha256: + {hash: e8d95748…}", "webshop: gains GET /order", "webshop: webhook_secret: + [secret]"}},
		{one(`"GET /order"`), one(`"GET /order"`), nil},
	} {
		var lines []string
		all, secret := config.Differences(read(c.from), read(c.to), endpoints)
		for _, d := range all {
			line := d.Text
			if d.Key != "" {
				line = d.Key + ": " + line
			}
			if d.Restart {
				line += " (restart)"
			}
			lines = append(lines, line)
		}
		require.Equal(t, c.want, lines)
		require.Equal(t, []string{"backend.dsn", "sessions.store"}, secret)
	}
}
