package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

// changed reads two configurations and tells their changes as people see them.
func changed(t *testing.T, from, to string) (lines []string) {
	t.Helper()
	known := config.Known{Endpoints: func(*config.Config) ([]config.Endpoint, error) {
		return []config.Endpoint{{Method: "GET", Path: "/order"}, {Method: "GET", Path: "/vehicle"}, {Method: "POST", Path: "/order"}}, nil
	}}
	var both [2]*config.Config
	for i, text := range []string{from, to} {
		c, err := config.Parse("frontdesk.yaml", []byte(text), known)
		require.NoError(t, err)
		both[i] = c
	}
	for _, c := range config.Changes(both[0], both[1]) {
		line := c.String()
		if c.Restart {
			line += " (restart)"
		}
		lines = append(lines, line)
	}
	return lines
}

const changesFrom = `
server: {listen: "127.0.0.1:8080", time_zone: UTC}
log: {level: info}
backend: {dsn: "postgres://u:one@db/x"}
webhooks: {ports: [443, 8443]}
api_keys:
  - name: webshop
    key_sha256: ["%[1]s"]
    expires: 2027-01-01
    allow: ["GET /order", "GET /vehicle"]
    webhook_secret: ["one", "two"]
  - name: workshop
    key_sha256: ["%[2]s"]
    allow: ["GET /order"]
`

const changesTo = `
server: {listen: "0.0.0.0:8080", time_zone: UTC, shutdown_timeout: 90s}
log: {level: debug}
backend: {dsn: "postgres://u:two@db/x"}
webhooks: {ports: [443]}
api_keys:
  - name: office
    key_sha256: ["%[3]s"]
    allow: ["GET /vehicle"]
  - name: webshop
    key_sha256: ["%[1]s"]
    expires: 2027-02-01
    allow: ["POST /order", "GET /order"]
    rate: {per_second: 5, burst: 10}
    webhook_secret: ["two", "three"]
    addresses: [10.0.0.0/8]
`

func TestChanges(t *testing.T) {
	var hashes []any
	for _, digit := range []string{"a", "b", "c"} {
		hashes = append(hashes, strings.Repeat(digit, 64))
	}
	from, to := fmt.Sprintf(changesFrom, hashes[:2]...), fmt.Sprintf(changesTo, hashes...)
	require.Equal(t, []string{
		"server.listen: 127.0.0.1:8080 → 0.0.0.0:8080 (restart)",
		"server.shutdown_timeout: 15s → 1m30s (restart)",
		"log.level: info → debug",
		"backend.dsn: [secret] changed (restart)",
		"webhooks.ports: - 8443 (restart)",
		"api_keys.office: + api_key",
		"api_keys.office.key_sha256: + {hash: cccccccc…}",
		"api_keys.office.allow: + GET /vehicle",
		"api_keys.webshop.expires: 2027-01-02T00:00:00Z → 2027-02-02T00:00:00Z",
		"api_keys.webshop.allow: - GET /vehicle",
		"api_keys.webshop.allow: + POST /order",
		"api_keys.webshop.webhook_secret: - [secret]",
		"api_keys.webshop.webhook_secret: + [secret]",
		"api_keys.webshop.rate: + {per_second: 5, burst: 10}",
		"api_keys.webshop.addresses: + 10.0.0.0/8",
		"api_keys.workshop: - api_key",
	}, changed(t, from, to))
	require.Empty(t, changed(t, from, from))
	require.Empty(t, changed(t, from, strings.Replace(from, `["GET /order", "GET /vehicle"]`, `["GET /vehicle", "GET /order"]`, 1)), "the order of an allowlist means nothing")
}
