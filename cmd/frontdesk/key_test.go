package main

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/config"
)

const (
	firstHash  = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"
	secondHash = "c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"
)

// keyFolder is a configuration that includes a folder of keys.
func keyFolder(t *testing.T) (dir, file string) {
	t.Helper()
	dir = t.TempDir()
	file = filepath.Join(dir, "frontdesk.yaml")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "keys.d"), 0o700))
	require.NoError(t, os.WriteFile(file, []byte(`# The gateway of Garage Jansen.
server: {vendor: Example, time_zone: Europe/Amsterdam}
backend: {dsn: "sqlite:`+filepath.Join(dir, "frontdesk.db")+`"}   # one file
include: ["keys.d/*.yaml"]
api_keys:
  - name: webshop   # the shop
    key_sha256: ["`+firstHash+`"] # made in May
    allow: ["GET /order"]
`), 0o640))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "keys.d", "planner.yaml"), []byte(`api_keys:
  - name: planner
    key_sha256:
      - `+secondHash+`   # the office
    expires: 2099-12-31
    allow: ["GET /vehicle"]
`), 0o600))
	return dir, file
}

var printedKey = regexp.MustCompile(`^api_key: ([0-9a-f-]{36})\n\nHand it to whoever will use it; it is shown only now.\n`)

func hashIn(t *testing.T, stdout string) string {
	t.Helper()
	made := printedKey.FindStringSubmatch(stdout)
	require.NotNil(t, made, stdout)
	sum := sha256.Sum256([]byte(made[1]))
	return hex.EncodeToString(sum[:])
}

func TestKeyRotate(t *testing.T) {
	dir, file := keyFolder(t)
	last := time.Now().AddDate(0, 0, 14) // the day at noon is the same in Amsterdam and here but for an hour or two
	code, stdout, stderr := cli("", "key", "rotate", "webshop", "--config", file)
	require.Zero(t, code, stderr)
	day := regexp.MustCompile(`works until the end of (\S+)\.`).FindStringSubmatch(stdout)
	require.NotNil(t, day, stdout)
	written, err := time.Parse(time.DateOnly, day[1])
	require.NoError(t, err)
	assert.WithinDuration(t, last, written, 26*time.Hour)
	assert.Contains(t, rig.Read(t, file), `  - name: webshop   # the shop
    key_sha256: [{hash: "`+firstHash+`", expires: `+day[1]+`}, "`+hashIn(t, stdout)+`"] # made in May
`)
	info, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())

	planner := filepath.Join(dir, "keys.d", "planner.yaml")
	code, stdout, stderr = cli("", "key", "rotate", "planner", "--config", file, "--overlap", "3d")
	require.Zero(t, code, stderr)
	assert.Regexp(t, `      - \{hash: `+secondHash+`, expires: \S+\}   # the office
      - "`+hashIn(t, stdout)+`"
    expires: 2099-12-31
`, rig.Read(t, planner))
	assert.Contains(t, stdout, "planner as a whole, the new api_key too, ends with 2099-12-31 (expires).\n")
	assert.Contains(t, stdout, planner+" changed.")
	entries, err := os.ReadDir(filepath.Dir(planner))
	require.NoError(t, err)
	assert.Len(t, entries, 1, "nothing else is left there")
}

func TestKeyRevoke(t *testing.T) {
	dir, file := keyFolder(t)
	code, stdout, stderr := cli("", "key", "revoke", "planner", "--config", file, "--at", "2099-01-31")
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "planner ends with 2099-01-31.\n")
	assert.Contains(t, rig.Read(t, filepath.Join(dir, "keys.d", "planner.yaml")), "\n    expires: 2099-01-31\n")
	code, stdout, stderr = cli("", "key", "revoke", "webshop", "--config", file)
	require.Zero(t, code, stderr)
	assert.Contains(t, stdout, "webshop is refused, and its open sessions with it")
	assert.Regexp(t, `  - name: webshop   # the shop\n    expires: \S+Z\n    key_sha256`, rig.Read(t, file))
	c, err := desk.LoadConfig(file)
	require.NoError(t, err)
	webshop := slices.IndexFunc(c.APIKeys, func(key config.Key) bool { return key.Name == "webshop" })
	assert.True(t, c.APIKeys[webshop].Expires.Passed(time.Now().Add(time.Second)))
	code, _, stderr = cli("", "key", "revoke", "webshop", "--config", file)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "webshop ended already, on ")
}

// TestKeyRevokeBesideABrokenSheet: a key that leaked is ended whatever has become of the
// mapping sheet or the model; nothing new is granted by what cannot be judged.
func TestKeyRevokeBesideABrokenSheet(t *testing.T) {
	for name, broken := range map[string]func(dir string) string{
		"a sheet with a mistake": func(dir string) string {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "sheet.yaml"), []byte("format: 1\nsource: {sql: {engine: sqlite, dsn: x}}\nresources: {order: {tabel: x}}\n"), 0o600))
			return `backend: {driver: legacy, sheet: "DIR/sheet.yaml"}`
		},
		"a sheet that is gone": func(string) string { return `backend: {driver: remote, sheet: "DIR/gone.yaml"}` },
		"a model with a mistake": func(dir string) string {
			require.NoError(t, os.Mkdir(filepath.Join(dir, "model"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "model", "order.yaml"), []byte("name: ["), 0o600))
			return `model: {dir: "DIR/model"}` + "\nbackend: {dsn: \"sqlite:DIR/frontdesk.db\"}"
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, file := keyFolder(t)
			text := strings.ReplaceAll(broken(dir), "DIR", dir)
			was := `backend: {dsn: "sqlite:` + filepath.Join(dir, "frontdesk.db") + `"}`
			whole := rig.Read(t, file)
			require.Contains(t, whole, was)
			whole = strings.Replace(whole, was, text, 1)
			require.NoError(t, os.WriteFile(file, []byte(whole), 0o640))
			code, _, _ := cli("", "check", "--config", file)
			require.Equal(t, 2, code, "it is broken")

			code, _, stderr := cli("", "key", "revoke", "planner", "--config", file)
			require.Zero(t, code, stderr)
			require.Regexp(t, `\n    expires: \S+Z\n`, rig.Read(t, filepath.Join(dir, "keys.d", "planner.yaml")))
			code, stdout, stderr := cli("", "key", "rotate", "webshop", "--config", file, "--overlap", "0d")
			require.Zero(t, code, stderr)
			require.Contains(t, rig.Read(t, file), hashIn(t, stdout))

			code, _, stderr = cli("", "key", "new", "more", "--config", file, "--allow", "GET /order")
			require.Equal(t, 2, code)
			require.Contains(t, stderr, "problem(s); nothing was done")
			require.NoError(t, os.WriteFile(file, []byte(strings.Replace(whole, "vendor:", "vendr:", 1)), 0o640))
			code, _, stderr = cli("", "key", "revoke", "webshop", "--config", file)
			require.Equal(t, 2, code, "no gateway would take it up")
			require.Contains(t, stderr, "did you mean vendor?")
		})
	}
}

func TestKeyNew(t *testing.T) {
	dir, file := keyFolder(t)
	code, stdout, stderr := cli("", "key", "new", "stock", "--config", file, "--allow", "GET /order", "--allow", "* /vehicle", "--expires", "2099-06-30")
	require.Zero(t, code, stderr)
	assert.Equal(t, `api_keys:
  - name: stock
    key_sha256: ["`+hashIn(t, stdout)+`"]
    expires: 2099-06-30
    allow:
      - "GET /order"
      - "* /vehicle"
`, rig.Read(t, filepath.Join(dir, "keys.d", "stock.yaml")))
	before := rig.Read(t, file)
	code, _, stderr = cli("", "key", "new", "stock", "--config", file)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "there is a key stock already ("+filepath.Join(dir, "keys.d", "stock.yaml")+":2)")
	code, _, stderr = cli("", "key", "new", "other", "--config", file, "--allow", "GET /oder")
	assert.Equal(t, 2, code)
	assert.Contains(t, stderr, "other.yaml:5:9: api_keys[0].allow[0]: found \"GET /oder\", no such endpoint, did you mean GET /order?")
	assert.NotContains(t, stderr, "frontdesk-key-")
	assert.Equal(t, before, rig.Read(t, file))
	assert.NoFileExists(t, filepath.Join(dir, "keys.d", "other.yaml"))
}

// TestKeyChangeRefused holds that a file which is not understood stays as it is,
// and that the operator is told what to write.
func TestKeyChangeRefused(t *testing.T) {
	_, file := keyFolder(t)
	text := strings.Replace(rig.Read(t, file), `["`+firstHash+`"]`, `&hashes ["`+firstHash+`"]`, 1)
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	code, stdout, stderr := cli("", "key", "rotate", "webshop", "--config", file)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, `"`+hashIn(t, stdout)+`"`, "the key is handed out: it is known once the file was edited by hand")
	assert.Contains(t, stderr, "is written in a way that is changed by hand only")
	assert.Contains(t, stderr, "Nothing was changed. In "+file+", under key_sha256 of webshop")
	assert.Contains(t, stderr, `{hash: "`+firstHash+`", expires: `)
	assert.Equal(t, text, rig.Read(t, file))

	code, _, stderr = cli("", "key", "rotate", "webshp", "--config", file)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "there is no key webshp in the configuration, did you mean webshop?")
	for _, overlap := range []string{"14", "2w", "-1d", "1h", "367d", "d"} {
		code, _, stderr = cli("", "key", "rotate", "webshop", "--config", file, "--overlap="+overlap)
		assert.Equal(t, 2, code, overlap)
		assert.Contains(t, stderr, "expected whole days", overlap)
	}
}

func TestKeyDryRun(t *testing.T) {
	_, file := keyFolder(t)
	before := rig.Read(t, file)
	code, stdout, stderr := cli("", "key", "revoke", "webshop", "--config", file, "--at", "2099-01-31", "--dry-run")
	require.Zero(t, code, stderr)
	assert.Equal(t, "--- "+file+"\n+++ "+file+`
@@ -4,5 +4,6 @@
 include: ["keys.d/*.yaml"]
 api_keys:
   - name: webshop   # the shop
+    expires: 2099-01-31
     key_sha256: ["`+firstHash+`"] # made in May
     allow: ["GET /order"]
`, stdout)
	assert.Equal(t, before, rig.Read(t, file))
}

func TestKeyList(t *testing.T) {
	dir, file := keyFolder(t)
	code, _, stderr := cli("", "key", "rotate", "webshop", "--config", file)
	require.Zero(t, code, stderr)
	code, stdout, stderr := cli("", "key", "list", "--config", file)
	require.Zero(t, code, stderr)
	assert.Regexp(t, `(?m)^NAME +ENDS +IN +SHA-256 +LAST USED +MODE +ENTRIES +WHERE$`, stdout)
	assert.Regexp(t, `(?m)^webshop +never +- +e8d95748 \(ends \d{4}-\d\d-\d\d\), [0-9a-f]{8} +-, - +enforce +1 +`+regexp.QuoteMeta(file)+`:6$`, stdout)
	assert.Regexp(t, `(?m)^planner +2099-12-31 +\d{5} days +c8f367a8 +- +enforce +1 +`+regexp.QuoteMeta(filepath.Join(dir, "keys.d", "planner.yaml"))+`:2$`, stdout)
}

// TestKeyRevokeBesideOthers: whatever is wrong with other files, the end of a key is written
// down, and it is said that nobody takes it up yet.
func TestKeyRevokeBesideOthers(t *testing.T) {
	dir, file := keyFolder(t)
	planner := filepath.Join(dir, "keys.d", "planner.yaml")
	was := rig.Read(t, planner)
	write := func(name, text string) {
		t.Helper()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "keys.d", name), []byte(text), 0o600))
	}
	write("broken.yaml", "api_keys: [{name: broken}]\n")
	code, stdout, stderr := cli("", "key", "revoke", "planner", "--config", file)
	require.Equal(t, 1, code)
	require.Regexp(t, `\n    expires: \S+Z\n`, rig.Read(t, planner))
	require.Contains(t, stderr, "goes on with the configuration before")
	require.Contains(t, stderr, filepath.Join("keys.d", "broken.yaml")+":1:12: api_keys[0].key_sha256: missing")
	require.NotContains(t, stdout, "takes it up")

	for name, text := range map[string]string{"planner.yaml": was + "    alow: []\n", "other.yaml": strings.ReplaceAll(was, secondHash, "x")} {
		write("planner.yaml", was)
		write(name, text)
		code, _, stderr = cli("", "key", "revoke", "planner", "--config", file)
		require.Equal(t, 2, code, "%s: whose key it is, is not known for sure", name)
		require.Contains(t, stderr, name+":")
		require.Contains(t, stderr, "nothing was done")
		require.NotContains(t, rig.Read(t, planner), "Z\n")
	}
	require.NoError(t, os.Remove(filepath.Join(dir, "keys.d", "other.yaml")))
	code, _, stderr = cli("", "key", "revoke", "broken", "--config", file)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "broken.yaml:1:")
	code, _, stderr = cli("", "key", "revoke", "planer", "--config", file)
	require.Equal(t, 2, code, "it may be in what cannot be read")
	require.Contains(t, stderr, "broken.yaml:1:")

	// What a mapping sheet that is right no longer has is for the restart.
	write("broken.yaml", "api_keys: [{name: gone, key_sha256: [\""+strings.Repeat("9", 64)+"\"], allow: [GET /gone]}]\n")
	write("planner.yaml", strings.Replace(was, `"GET /vehicle"`, `"GET /vehicle", "GET /gone"`, 1))
	code, stdout, stderr = cli("", "key", "revoke", "planner", "--config", file)
	require.Zero(t, code, stderr)
	require.Contains(t, stdout, "takes it up by itself, or on SIGHUP: /readyz has no config.error then.")
}

// TestCommandsBesideBrokenKeys: what has to work at night works beside api_keys that are broken,
// and not by settings that may be others.
func TestCommandsBesideBrokenKeys(t *testing.T) {
	dir := t.TempDir()
	file, keys := filepath.Join(dir, "frontdesk.yaml"), filepath.Join(dir, "keys.yaml")
	text := rig.KeptConfig(t, "sqlite:"+filepath.Join(dir, "frontdesk.db"), "include: [keys.yaml]", rig.KeptKey(`"GET /order"`))
	require.NoError(t, os.WriteFile(keys, []byte("api_keys: []\n"), 0o600))
	k := rig.StartKept(t, file, text, false)
	code, _, stderr := cli("long enough a password", "user", "add", "jan", "--client", "Jansen", "--email", "jan@example.nl", "--config", file)
	require.Zero(t, code, stderr)
	commands := [][]string{{"healthcheck"}, {"user", "block", "jan"}, {"callbacks", "list"}}
	ask := func(command []string) (int, string) {
		code, _, stderr := cli("", append(command, "--config", file)...)
		return code, stderr
	}
	require.NoError(t, os.WriteFile(keys, []byte("api_keys: [\n"), 0o600))
	archive := filepath.Join(dir, "backup.zip")
	records := [][]string{{"backup", "--client", "Jansen", "--out", archive}, {"restore", "--client", "New", "--rename", archive}}
	for _, command := range slices.Concat(commands, records) {
		code, stderr := ask(command)
		require.Zero(t, code, "%v: %s", command, stderr)
		require.Contains(t, stderr, keys+":1:11: ", "%v", command)
	}
	for name, broken := range map[string]string{
		"bakend": strings.Replace(text, "backend:", "bakend:", 1), "ops.lisen": strings.Replace(text, "ops: {listen", "ops: {lisen", 1), "a flow": "{",
	} {
		k.Write(broken)
		for _, command := range commands {
			code, stderr := ask(command)
			if name == "bakend" && command[0] == "healthcheck" {
				require.Zero(t, code, stderr)
				continue
			}
			require.Equal(t, 2, code, "%s %v: %s", name, command, stderr)
			require.Contains(t, stderr, "nothing was done")
		}
	}
	require.NoFileExists(t, "frontdesk.db")
}
