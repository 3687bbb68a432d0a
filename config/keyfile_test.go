package config_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

const firstHash, secondHash = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c", "c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"

// wholeKey says all that a key can say, as a program writes it.
const wholeKey = `# The shop of Garage Jansen.

  # api_keys: [] would end it.
api_keys:
  - name: webshop
    key_sha256:
      - {hash: "` + firstHash + `", expires: 2026-12-05}
      - "` + secondHash + `"
    expires: 2027-01-31T12:00:00.5Z
    allow:
      - "GET /order"
      - "* /vehicle"
      - "POST /contact": {without: [birth_date, note]}
    webhook_secret:
      - "${HOOK_SECRET}"
      - "tab\tand é \\ and $$ # $${no comment}: \"quoted\""
    stale: true
    rate: {per_second: 12345678.25, burst: 10}
    concurrent: 3
    per_day: 1000000
    addresses:
      - "10.0.0.0/8"
      - "192.0.2.7/32"
    client_certificates:
      - "` + firstHash + `"
`

var amsterdam, _ = time.LoadLocation("Europe/Amsterdam")

// TestKeyFile writes a file anew, and nothing that it says is lost: no setting, no variable,
// no secret, no comment at the beginning.
func TestKeyFile(t *testing.T) {
	file := must.Have(config.ReadKeyFile([]byte(wholeKey), amsterdam))(t)
	require.Equal(t, wholeKey, file.String())
	require.Equal(t, time.Date(2026, 12, 6, 0, 0, 0, 0, amsterdam), file.Key.Hashes[0].Expires.Time, "dates are resolved")
	require.EqualValues(t, "${HOOK_SECRET}", file.Key.WebhookSecret[0])
	of := reflect.ValueOf(file.Key)
	for i := range of.NumField() {
		if name := of.Type().Field(i).Tag.Get("yaml"); name != "" {
			require.False(t, of.Field(i).IsZero(), "%s is not in this test", name)
		}
	}
}

// TestKeyFileLayouts reads what people write, and writes it in one way.
func TestKeyFileLayouts(t *testing.T) {
	hash := "\n    key_sha256:\n      - \"" + firstHash + "\"\n"
	for text, want := range map[string]string{
		`{api_keys: [{"name": 'a', key_sha256: ["` + firstHash + `"]}]}`:                                 "api_keys:\n  - name: a" + hash + "    allow: []\n",
		"# one\r\napi_keys:\r\n- allow: []\r\n  key_sha256: [" + firstHash + "]\r\n  name: \"null\"\r\n": "# one\r\napi_keys:\n  - name: \"null\"" + hash + "    allow: []\n",
		"api_keys: [{name: \"${NAME}\", key_sha256: [&h \"" + firstHash + "\"]}]":                        "api_keys:\n  - name: \"${NAME}\"" + hash + "    allow: []\n",
		"api_keys:\n- name: 1e3\n  key_sha256: [{hash: " + strings.Repeat("1", 64) + "}]\n  allow: [GET /order]\n  addresses: [10.0.0.0/8]\n": "api_keys:\n  - name: \"1e3\"\n    key_sha256:\n      - \"" +
			strings.Repeat("1", 64) + "\"\n    allow:\n      - \"GET /order\"\n    addresses:\n      - \"10.0.0.0/8\"\n",
	} {
		file, err := config.ReadKeyFile([]byte(text), time.UTC)
		require.NoError(t, err, text)
		require.Equal(t, want, file.String())
		again, err := config.ReadKeyFile([]byte(want), time.UTC)
		require.NoError(t, err, want)
		require.Equal(t, want, again.String())
	}
}

// TestNoKeyFile: whatever would be lost if the file were written anew keeps it from that.
func TestNoKeyFile(t *testing.T) {
	const more = "it is more, or less, than one api_key with all of it written out"
	key := "  - name: a\n    key_sha256: [\"" + firstHash + "\"]\n"
	for text, want := range map[string]string{
		"":                                   more,
		"# nothing\n":                        more,
		"api_keys: []\n":                     more,
		"api_keys:\n" + key + key:            more,
		"log: {}\napi_keys:\n" + key:         more,
		"api_keys:\n" + key + "    alow: []": more,
		"api_keys:\n  - name: a\n    key_sha256: [\"${HASH}\"]\n": more,
		"api_keys:\n" + key + "    expires: ${END}\n":             more,
		"api_keys:\n" + key + "---\napi_keys:\n" + key:            more,
	} {
		require.EqualError(t, must.Fail(config.ReadKeyFile([]byte(text), time.UTC)), want, "%s", text)
	}
}

// leaves are the paths of all that a type of the configuration can hold, as a line of
// YAML each, with %s for the value.
func leaves(of reflect.Type) (all []string) {
	switch {
	case of.Kind() == reflect.Pointer:
		return leaves(of.Elem())
	case of.Kind() == reflect.Slice:
		for _, inner := range leaves(of.Elem()) {
			all = append(all, "["+inner+"]")
		}
		return append(all, "%s")
	case of.Kind() == reflect.Struct:
		for i := range of.NumField() {
			name, _, _ := strings.Cut(of.Field(i).Tag.Get("yaml"), ",")
			if name == "" {
				continue
			}
			for _, inner := range leaves(of.Field(i).Type) {
				all = append(all, "{"+name+": "+inner+"}")
			}
		}
	}
	if len(all) == 0 || of == reflect.TypeFor[config.KeyHash]() {
		all = append(all, "%s")
	}
	return all
}

// TestVariablesAreNotRepeated puts variables of the environment where nothing of the kind
// belongs, everywhere: no message repeats what they hold.
func TestVariablesAreNotRepeated(t *testing.T) {
	folder := t.TempDir()
	hushes := map[string]string{
		"TEXT": "hush-hush", "LONG": strings.Repeat("hush", 40), "QUOTED": "hush\"\\\x1b\n\"hush", "NUMBER": "-98765432", "LARGE": "98765432109876543210",
		"TIME": "-98765432s", "URL": "ftp://hush:hush@hush/hush?hush#hush", "RULE": "GET /hush", "RANGE": "10.98.76.54/8", "DIRECTORY": folder,
	}
	env := known
	env.Env = func(name string) (string, bool) { value, ok := hushes[name]; return value, ok }
	forms := []string{`"${%s}"`, `"x${%s}"`}
	problems := 0
	for _, leaf := range leaves(reflect.TypeFor[config.Config]()) {
		for name, hush := range hushes {
			for _, form := range forms[:1+len(name)%2] {
				text := fmt.Sprintf(leaf, fmt.Sprintf(form, name))
				file := filepath.Join(folder, "frontdesk.yaml")
				require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
				_, err := config.Load(file, env)
				if err == nil {
					continue
				}
				found, ok := errors.AsType[strictyaml.Problems](err)
				require.True(t, ok, "%s: %v", text, err)
				for _, p := range found {
					problems++
					if said := strings.ToLower(p.Message); strings.Contains(said, "hush") || strings.Contains(said, "98765432") || strings.Contains(said, "98.76") || name == "DIRECTORY" && strings.Contains(p.Message, hush) {
						t.Errorf("%s is repeated: %s\n%s", name, p, text)
					}
				}
			}
		}
	}
	assert.GreaterOrEqual(t, problems, 500)
}

// TestVariablesAreNotToldAsChanges: what a variable held before, and holds now, is no
// part of what has changed.
func TestVariablesAreNotToldAsChanges(t *testing.T) {
	held := "hush-before"
	env := known
	env.Env = func(string) (string, bool) { return held, true }
	file := filepath.Join(t.TempDir(), "frontdesk.yaml")
	text := "server: {vendor: \"${NAME}\", public_url: \"https://${NAME}/api\"}\nwebhooks: {allow_hosts: [\"${NAME}\", other]}\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	before := mustLoad(t, config.NewLoader(file, env))
	held = "hush-after"
	var told []string
	for _, change := range config.Changes(before, mustLoad(t, config.NewLoader(file, env))) {
		told = append(told, change.String())
	}
	want := []string{
		"server.public_url: https://${NAME}/api changed", "server.vendor: ${NAME} changed", "webhooks.allow_hosts: - ${NAME}", "webhooks.allow_hosts: + ${NAME}",
	}
	assert.Empty(t, cmp.Diff(want, told), "changes (-want +got)")
}
