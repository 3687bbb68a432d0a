package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
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
		c := must.Have(config.Parse("frontdesk.yaml", []byte(text), known))(t)
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

// TestChangedSinceProblems: of files that are wrong only a change of theirs is one, not
// that they are wrong still.
func TestChangedSinceProblems(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [a.yaml, gone.yaml]", "a.yaml": key(1, "GET /oder")})
	loader := f.loader()
	for _, step := range []struct{ name, file, text string }{
		{"an entry is wrong and a file is missing", "a.yaml", key(1, "GET /oder")},
		{"one of them is mended", "a.yaml", key(1, "GET /order")},
		{"and the other", "gone.yaml", "api_keys: []"},
		{"the main file is no YAML", "frontdesk.yaml", "include: ["},
		{"and is right again", "frontdesk.yaml", "include: [a.yaml]"},
	} {
		f.write(step.file, step.text)
		assert.True(t, loader.Changed(), "%s: not noticed", step.name)
		_, _ = loader.Load()
		assert.False(t, loader.Changed(), "%s: noticed again", step.name)
	}
	mustLoad(t, loader)
}

// TestLoadIsOfOneMoment: files that change while they are read make no configuration of
// some of the one and some of the other.
func TestLoadIsOfOneMoment(t *testing.T) {
	f := newFolder(t, map[string]string{"frontdesk.yaml": "include: [keys.d/*.yaml]"})
	for version, allow := range map[string]string{"1": "GET /order", "2": "PUT /order"} {
		for i, name := range []string{"a", "b"} {
			f.write("keys."+version+"/"+name+".yaml", strings.Replace(key(i+1, allow), "expires:", `webhook_secret: ["${HUSH}"], expires:`, 1))
		}
	}
	keys := filepath.Join(f.dir, "keys.d")
	turn := func(version string) {
		require.NoError(t, errors.Join(os.Symlink("keys."+version, keys+".new"), os.Rename(keys+".new", keys)))
	}
	turn("1")
	each := func() {} // while the first of the included files is read, and the second is not yet
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	always := func() {} // behind the main file
	loader := config.NewLoader(filepath.Join(f.dir, "frontdesk.yaml"), config.Known{
		Endpoints: func(*config.Config) ([]config.Endpoint, error) {
			always()
			return endpoints, nil
		},
		Env: func(string) (string, bool) {
			each()
			return "hush-hush", true
		},
	})

	times := 0
	each = func() {
		if times++; times == 1 {
			turn("2")
		}
	}
	c := mustLoad(t, loader)
	assert.Equal(t, "PUT", c.APIKeys[0].Allow[0].Method)
	assert.Equal(t, c.APIKeys[0].Allow[0], c.APIKeys[1].Allow[0])

	// It never ends: nothing is made of that, and it is tried again later.
	always = func() {
		times++
		f.write("frontdesk.yaml", "include: [keys.d/*.yaml]\n"+strings.Repeat("#", times))
	}
	times = 0
	_, err := loader.Load()
	assert.ErrorContains(t, err, "change while they are read")
	always = func() {}
	assert.True(t, loader.Changed(), "it is tried again")
	mustLoad(t, loader)
}

// TestDifferences: what a change means, and not how it is written, as one program tells another.
func TestDifferences(t *testing.T) {
	const hash, other = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c", "c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"
	endpoints := []config.Endpoint{{"GET", "/order", ofOrder, ""}, {"POST", "/order", ofOrder, ""}, {Method: "GET", Path: "/vehicle"}}
	known := config.Known{
		Endpoints: func(*config.Config) ([]config.Endpoint, error) { return endpoints, nil },
		Env:       func(string) (string, bool) { return "canary-of-a-variable", true },
	}
	read := func(text string) (settings []config.Setting) {
		c := must.Have(config.Parse("frontdesk.yaml", []byte("backend: {dsn: 'postgres://u:canary@db/x'}\n"+text), known))(t)
		sent := must.Have(json.Marshal(c.Settings()))(t)
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
		{one(`"* /order"`), one(`"* /order": {without: [note, status]}`), []string{
			"webshop: loses note of GET /order, status of GET /order, note of POST /order, status of POST /order"}},
		{one(`GET /order: {only: [note, number]}`), one(`GET /order: {only: [id, note, status]}`), []string{"webshop: gains status of GET /order", "webshop: loses number of GET /order"}},
		{one(`GET /order: {only: [note, number]}`), one(`GET /order: {without: [order_date, status]}`), []string{"webshop: its allowlist is written otherwise, and allows the same"}},
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
