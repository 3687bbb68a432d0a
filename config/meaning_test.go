package config_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

// TestDifferences: what a change means, and not how it is written.
func TestDifferences(t *testing.T) {
	const hash, other = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c", "c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"
	endpoints := []config.Endpoint{{Method: "GET", Path: "/order"}, {Method: "POST", Path: "/order"}, {Method: "GET", Path: "/vehicle"}}
	known := config.Known{
		Endpoints: func(*config.Config) ([]config.Endpoint, error) { return endpoints, nil },
		Env:       func(string) (string, bool) { return "postgres://u:canary@db/x", true },
	}
	read := func(text string) *config.Config {
		c, err := config.Read([]config.Text{{Path: "frontdesk.yaml", Text: []byte("backend: {dsn: '${DSN}'}\n" + text)}}, known)
		require.NoError(t, err)
		return c
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
			"webshop: ends, since its end has passed: 2020-01-02T00:00:00+01:00", "webshop: rate: - {per_second: 1, burst: 2}"}},
		{one(`"GET /order"`), strings.ReplaceAll(one(`"GET /order"`), hash, other), []string{"webshop: hash c8f367a8… is new", "webshop: hash e8d95748… is removed"}},
		{one(`"GET /order"`), "server: {listen: '0.0.0.0:8080'}\n", []string{
			"server.listen: 127.0.0.1:8080 → 0.0.0.0:8080 (restart)", "webshop: is removed: its api_keys are refused, its sessions end"}},
		{one(`"GET /order"`), strings.Replace(one(`"GET /order"`), "["+hash+"]", "[{hash: "+hash+", expires: 2020-01-01}]", 1), []string{"webshop: hash e8d95748… has ended, 2020-01-02T00:00:00+01:00"}},
		{"", one(`"GET /order"`), []string{"webshop: is new", "webshop: hash e8d95748… is new", "webshop: gains GET /order"}},
	} {
		var lines []string
		for _, d := range config.Differences(read(c.from), read(c.to), endpoints, time.Now()) {
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
	}
}
