package keys_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/keys"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/config/strictyaml"
)

const (
	firstHash  = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"
	secondHash = "c8f367a876b2c57ec18bd1d1cdc9cf7bc039390e73bd84981b06b873a363f3cf"
)

// garage is a configuration with the key planner in a file of its own, and webshop in the main
// file.
type garage struct {
	t             *testing.T
	main, planner string
}

func newGarage(t *testing.T) *garage {
	t.Helper()
	dir := t.TempDir()
	g := &garage{t, filepath.Join(dir, "frontdesk.yaml"), filepath.Join(dir, "keys.d", "planner.yaml")}
	require.NoError(t, os.Mkdir(filepath.Dir(g.planner), 0o700))
	require.NoError(t, os.WriteFile(g.main, []byte(`# The gateway of Garage Jansen.
server: {vendor: Example, time_zone: Europe/Amsterdam}
backend: {dsn: "sqlite:`+filepath.Join(dir, "frontdesk.db")+`"}   # one file
include: ["keys.d/*.yaml"]
api_keys:
  - name: webshop   # the shop
    key_sha256: ["`+firstHash+`"] # made in May
    allow: ["GET /order"]
`), 0o640))
	g.write(g.planner, `# The office.
api_keys:
  - name: planner
    expires: 2099-12-31   # says Anna
    key_sha256: [`+secondHash+`]
    allow: ["GET /vehicle"]
`)
	require.NoError(t, os.Chmod(g.planner, 0o604))
	return g
}

// beside is the path of another file of keys.
func (g *garage) beside(name string) string { return filepath.Join(filepath.Dir(g.planner), name) }

func (g *garage) write(file, text string) {
	g.t.Helper()
	require.NoError(g.t, os.WriteFile(file, []byte(text), 0o600))
}

// apply makes a change.
func (g *garage) apply(change *keys.Change, err error) (stdout string, _ error) {
	g.t.Helper()
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = change.Apply(desk.Program{Ctx: g.t.Context(), Stdout: &out, Stderr: io.Discard})
	return out.String(), err
}

var printedKey = regexp.MustCompile(`^api_key: ([0-9a-f-]{36})\n\nHand it to whoever will use it; it is shown only now.\n`)

func hashIn(t *testing.T, stdout string) string {
	t.Helper()
	made := printedKey.FindStringSubmatch(stdout)
	require.NotNil(t, made, stdout)
	sum := sha256.Sum256([]byte(made[1]))
	return hex.EncodeToString(sum[:])
}

// TestRotate: by the clock of the bubble it is the first of January 2000, in Amsterdam too.
func TestRotate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGarage(t)
		stdout, err := g.apply(keys.Rotate(g.main, "planner", 14))
		require.NoError(t, err)
		first := hashIn(t, stdout)
		planner := func(hashes string) string {
			return "# The office.\napi_keys:\n  - name: planner\n    key_sha256:\n" + hashes + "    expires: 2099-12-31\n    allow:\n      - \"GET /vehicle\"\n"
		}
		ends := func(hash, day string) string {
			return fmt.Sprintf("      - {hash: %q, expires: %s}\n", hash, day)
		}
		require.Equal(t, planner(ends(secondHash, "2000-01-15")+fmt.Sprintf("      - %q\n", first)), rig.Read(t, g.planner))
		for _, told := range []string{
			"works until the end of 2000-01-15 at most.", "planner as a whole, the new api_key too, ends with 2099-12-31 (expires).\n", g.planner + " changed.",
		} {
			require.Contains(t, stdout, told)
		}
		info, err := os.Stat(g.planner)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o604), info.Mode().Perm())
		entries, err := os.ReadDir(filepath.Dir(g.planner))
		require.NoError(t, err)
		require.Len(t, entries, 1, "nothing else is left there")

		stdout, err = g.apply(keys.Rotate(g.main, "planner", 3))
		require.NoError(t, err)
		require.Equal(t, planner(ends(secondHash, "2000-01-04")+ends(first, "2000-01-04")+fmt.Sprintf("      - %q\n", hashIn(t, stdout))), rig.Read(t, g.planner), "whatever lasted longer ends with the third day")
		_, err = g.apply(keys.Rotate(g.main, "plannr", 14))
		require.ErrorContains(t, err, "there is no key plannr in the configuration, did you mean planner?")
	})
}

func TestRevoke(t *testing.T) {
	g := newGarage(t)
	stdout, err := g.apply(keys.Revoke(g.main, "planner", "2099-01-31"))
	require.NoError(t, err)
	assert.Contains(t, stdout, "planner ends with 2099-01-31.\n")
	assert.Contains(t, rig.Read(t, g.planner), "\n    expires: 2099-01-31\n")
	_, err = g.apply(keys.Revoke(g.main, "planner", "2099-02-01"))
	require.ErrorContains(t, err, "planner ends before 2099-02-01 already: on 2099-01-31 (expires, at ")
	assert.Contains(t, rig.Read(t, g.planner), "\n    expires: 2099-01-31\n")
	stdout, err = g.apply(keys.Revoke(g.main, "planner", "now"))
	require.NoError(t, err)
	assert.Contains(t, stdout, "planner is refused, and its open sessions with it")
	assert.Regexp(t, `(?m)^    expires: \S+Z$`, rig.Read(t, g.planner))
	c, err := desk.LoadConfig(g.main)
	require.NoError(t, err)
	_, err = g.apply(keys.Revoke(g.main, "planner", "now"))
	assert.ErrorContains(t, err, "planner ended already, on "+c.APIKeys[1].Expires.String()+" (expires, at ")
	_, err = g.apply(keys.Revoke(g.main, "webshop", "soon"))
	assert.ErrorAs(t, err, new(desk.Misuse))
	assert.ErrorContains(t, err, "--at soon: expected a date")
}

func TestNew(t *testing.T) {
	g := newGarage(t)
	stdout, err := g.apply(keys.Add(g.main, "stock", "2099-06-30", []string{"GET /order", "* /vehicle"}))
	require.NoError(t, err)
	text := `api_keys:
  - name: stock
    key_sha256:
      - "` + hashIn(t, stdout) + `"
    expires: 2099-06-30
    allow:
      - "GET /order"
      - "* /vehicle"
`
	assert.Equal(t, text, rig.Read(t, g.beside("stock.yaml")))
	info, err := os.Stat(g.beside("stock.yaml"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o640), info.Mode().Perm())
	stdout, err = g.apply(keys.Add(g.main, "idle", "", nil))
	require.NoError(t, err)
	assert.Contains(t, stdout, "It may do nothing yet: ")
	assert.Contains(t, rig.Read(t, g.beside("idle.yaml")), "\n    allow: []\n")

	before := rig.Read(t, g.main)
	_, err = g.apply(keys.Add(g.main, "stock", "", nil))
	assert.ErrorContains(t, err, "there is a key stock already ("+g.beside("stock.yaml")+":2)")
	_, err = g.apply(keys.Add(g.main, "other", "", []string{"GET /oder"}))
	assert.ErrorAs(t, err, new(strictyaml.Problems))
	assert.ErrorContains(t, err, "other.yaml:6:9: api_keys[0].allow[0]: found \"GET /oder\", no such endpoint, did you mean GET /order?")
	for _, misused := range [][3]string{{"Web!", "", "GET /order"}, {"web", "soon", "GET /order"}, {"web", "", "order"}} {
		_, err = g.apply(keys.Add(g.main, misused[0], misused[1], misused[2:]))
		assert.ErrorAs(t, err, new(desk.Misuse), misused)
	}
	assert.Equal(t, before, rig.Read(t, g.main))
	assert.NoFileExists(t, g.beside("other.yaml"))
}

// TestByHand: a file that holds more than an api_key is not written, and no api_key is made for
// it. The operator is told what to do there.
func TestByHand(t *testing.T) {
	g := newGarage(t)
	before := rig.Read(t, g.main)
	refused := func(stdout string, err error, why, todo string) {
		t.Helper()
		require.ErrorContains(t, err, "nothing was changed: "+why+". A command writes an api_key only into a file of its own, which include names as keys.d/*.yaml does: "+todo)
		require.Empty(t, stdout)
	}
	stdout, err := g.apply(keys.Rotate(g.main, "webshop", 14))
	refused(stdout, err, g.main+": it has other settings", "put a hash that frontdesk key new prints under key_sha256 of webshop ("+g.main+":6)")
	stdout, err = g.apply(keys.Revoke(g.main, "webshop", "2099-01-31"))
	refused(stdout, err, g.main+": it has other settings", "give webshop ("+g.main+":6) the line expires: 2099-01-31")
	g.write(g.planner, rig.Read(t, g.planner)+"  - {name: second, key_sha256: [\""+strings.Repeat("9", 64)+"\"]}\n")
	stdout, err = g.apply(keys.Revoke(g.main, "planner", "now"))
	refused(stdout, err, g.planner+": it is more, or less, than one api_key with all of it written out", "give planner ("+g.planner+":3) the line expires: ")
	require.Equal(t, before, rig.Read(t, g.main))

	g.write(g.main, strings.Replace(before, "include:", "#", 1))
	stdout, err = g.apply(keys.Add(g.main, "stock", "", []string{"GET /order"}))
	refused(stdout, err, g.main+": it has other settings", "include such a folder, or have frontdesk key new print what to write, without --config")
}

// TestBesideABrokenSheet: a key that leaked is ended whatever has become of the mapping sheet
// or the model; nothing new is granted by what cannot be judged.
func TestBesideABrokenSheet(t *testing.T) {
	for name, broken := range map[string]func(dir string) string{
		"a sheet with a mistake": func(dir string) string {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "sheet.yaml"), []byte("format: 2\nsource: {sql: {engine: sqlite, dsn: x}}\nresources: {order: {tabel: x}}\n"), 0o600))
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
			g := newGarage(t)
			dir := filepath.Dir(g.main)
			was := `backend: {dsn: "sqlite:` + filepath.Join(dir, "frontdesk.db") + `"}`
			whole := rig.Read(t, g.main)
			require.Contains(t, whole, was)
			whole = strings.Replace(whole, was, strings.ReplaceAll(broken(dir), "DIR", dir), 1)
			g.write(g.main, whole)
			_, err := desk.LoadConfig(g.main)
			require.Error(t, err, "it is broken")

			_, err = g.apply(keys.Revoke(g.main, "planner", "now"))
			require.NoError(t, err)
			require.Regexp(t, `\n    expires: \S+Z\n`, rig.Read(t, g.planner))
			stdout, err := g.apply(keys.Rotate(g.main, "planner", 0))
			require.NoError(t, err)
			require.Contains(t, rig.Read(t, g.planner), hashIn(t, stdout))
			require.Contains(t, stdout, "nothing works until that is changed")

			_, err = g.apply(keys.Add(g.main, "more", "", []string{"GET /order"}))
			require.ErrorAs(t, err, new(strictyaml.Problems))
			g.write(g.main, strings.Replace(whole, "vendor:", "vendr:", 1))
			_, err = g.apply(keys.Revoke(g.main, "webshop", "now"))
			require.ErrorAs(t, err, new(strictyaml.Problems), "no gateway would take it up")
			require.ErrorContains(t, err, "did you mean vendor?")
		})
	}
}

// TestRevokeBesideOthers: whatever is wrong with other files, the end of a key is written down,
// and it is said that nobody takes it up yet.
func TestRevokeBesideOthers(t *testing.T) {
	g := newGarage(t)
	was := rig.Read(t, g.planner)
	g.write(g.beside("broken.yaml"), "api_keys: [{name: broken}]\n")
	stdout, err := g.apply(keys.Revoke(g.main, "planner", "now"))
	require.Regexp(t, `\n    expires: \S+Z\n`, rig.Read(t, g.planner))
	require.ErrorContains(t, err, "goes on with the configuration before")
	require.ErrorContains(t, err, filepath.Join("keys.d", "broken.yaml")+":1:12: api_keys[0].key_sha256: missing")
	require.NotErrorAs(t, err, new(strictyaml.Problems))
	require.NotContains(t, stdout, "takes it up")

	for name, text := range map[string]string{"planner.yaml": was + "    alow: []\n", "other.yaml": strings.ReplaceAll(was, secondHash, "x")} {
		g.write(g.planner, was)
		g.write(g.beside(name), text)
		_, err = g.apply(keys.Revoke(g.main, "planner", "now"))
		require.ErrorAs(t, err, new(strictyaml.Problems), "%s: whose key it is, is not known for sure", name)
		require.ErrorContains(t, err, name+":")
		require.NotContains(t, rig.Read(t, g.planner), "Z\n")
	}
	require.NoError(t, os.Remove(g.beside("other.yaml")))
	for _, name := range []string{"broken", "planer"} {
		_, err = g.apply(keys.Revoke(g.main, name, "now"))
		require.ErrorAs(t, err, new(strictyaml.Problems), "it may be in what cannot be read")
		require.ErrorContains(t, err, "broken.yaml:1:")
	}

	// What a mapping sheet that is right no longer has is for the restart.
	g.write(g.beside("broken.yaml"), "api_keys: [{name: gone, key_sha256: [\""+strings.Repeat("9", 64)+"\"], allow: [GET /gone]}]\n")
	g.write(g.planner, strings.Replace(was, `"GET /vehicle"`, `"GET /vehicle", "GET /gone"`, 1))
	stdout, err = g.apply(keys.Revoke(g.main, "planner", "now"))
	require.NoError(t, err)
	require.Contains(t, stdout, "takes it up by itself, or on SIGHUP: /readyz has no config.error then.")
}

// TestChangedMeanwhile: whatever has come between, the change is of the key that was named.
func TestChangedMeanwhile(t *testing.T) {
	g := newGarage(t)
	change, err := keys.Revoke(g.main, "planner", "2099-01-31")
	require.NoError(t, err)
	changed := strings.Replace(rig.Read(t, g.planner), "name: planner", "name: other", 1)
	g.write(g.planner, changed)
	_, err = g.apply(change, nil)
	require.ErrorContains(t, err, `planner.yaml: its key is "other". A command writes`)
	require.Equal(t, changed, rig.Read(t, g.planner))
	require.NoError(t, os.Remove(g.planner))
	_, err = g.apply(change, nil)
	require.ErrorAs(t, err, new(strictyaml.Problems), "it is gone")
	require.NoFileExists(t, g.planner)
}

// TestAbsolutePattern: keys are where a pattern says, also one that says it from the root.
func TestAbsolutePattern(t *testing.T) {
	g := newGarage(t)
	g.write(g.main, strings.Replace(rig.Read(t, g.main), `"keys.d/*.yaml"`, `"`+g.beside("*.yaml")+`"`, 1))
	stdout, err := g.apply(keys.Add(g.main, "stock", "", []string{"GET /order"}))
	require.NoError(t, err)
	require.Contains(t, rig.Read(t, g.beside("stock.yaml")), hashIn(t, stdout))
	_, err = g.apply(keys.Rotate(g.main, "stock", 1))
	require.NoError(t, err)
	_, err = g.apply(keys.Revoke(g.main, "planner", "now"))
	require.NoError(t, err)
	c, err := desk.LoadConfig(g.main)
	require.NoError(t, err)
	require.Len(t, c.APIKeys, 3)
	require.False(t, c.APIKeys[1].Expires.IsZero())
}
