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
