package rollback

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/config"
	"frontdesk/config/strictyaml"
)

// drawn draws configurations of the same hashes under other names, in other files and other
// layouts.
type drawn struct {
	*rand.Rand
	folder string
	now    time.Time
}

// hash is one of a few.
func (d drawn) hash(n int) string {
	text := strings.Repeat(fmt.Sprintf("%02x", 0xa0+n), 32)
	if d.IntN(4) == 0 {
		text = strings.ToUpper(text)
	}
	return text
}

// end is none, one that has passed, or one to come.
func (d drawn) end() string {
	switch d.IntN(4) {
	case 0:
		return d.now.Add(-time.Duration(1+d.IntN(100)) * time.Hour).UTC().Format(time.RFC3339)
	case 1:
		return d.now.Add(time.Duration(1+d.IntN(100)) * time.Hour).UTC().Format(time.RFC3339)
	case 2:
		return d.now.Add(time.Duration(d.IntN(5)-2) * 24 * time.Hour).Format(time.DateOnly)
	default:
		return ""
	}
}

// one writes a hash in one of the layouts that there are.
func (d drawn) one(n int, indent string) string {
	hash, end := d.hash(n), d.end()
	quote := []string{`"`, `'`}[d.IntN(2)]
	text := quote + hash + quote
	comment := []string{"", " # é, \"hash\" of the shop", "  #expires: never"}[d.IntN(3)]
	switch {
	case end == "":
		return indent + "- " + text + comment + "\n"
	case d.IntN(2) == 0:
		return indent + "- {hash: " + text + ", expires: " + end + "}" + comment + "\n"
	case d.IntN(2) == 0:
		return indent + "- {expires: \"" + end + "\", hash: " + text + "}" + comment + "\n"
	default:
		return indent + "- hash: " + text + comment + "\n" + indent + "  expires: " + end + comment + "\n"
	}
}

// texts are a main file, and what it includes.
func (d drawn) texts() []config.Text {
	files := map[int]string{}
	for n, hash := range d.Perm(6)[:1+d.IntN(6)] {
		file := d.IntN(3)
		key := fmt.Sprintf("  - name: key%d\n", n)
		if end := d.end(); end != "" && d.IntN(3) == 0 {
			key += "    expires: " + end + "\n"
		}
		switch indent := "      "; d.IntN(3) {
		case 0:
			key += "    key_sha256: [\"" + d.hash(hash) + "\"]   # alone\n"
		case 1:
			key += "    key_sha256: [ '" + d.hash(hash) + "', {hash: " + `"` + d.hash(hash+10) + `"` + ", expires: 2020-01-01}]\n"
		default:
			key += "    key_sha256:\n" + d.one(hash, indent)
			if d.IntN(2) == 0 {
				key += "\n" + indent + "# another one\n" + d.one(hash+20, indent)
			}
		}
		files[file] += key + "    allow: [\"GET /order\"]\n"
	}
	main := "# the desk\nserver: {listen: \"127.0.0.1:0\"}\nops: {listen: \"\"}\nbackend: {dsn: \"sqlite:" + filepath.Join(d.folder, "x.db") + "\"}\nmail: {folder: \"" + d.folder + "\"}\n" +
		"include: [\"keys.d/*.yaml\"]\n"
	texts := []config.Text{{Path: filepath.Join(d.folder, "frontdesk.yaml")}}
	if files[0] != "" {
		main += "api_keys:\n" + files[0]
	}
	texts[0].Text = []byte(main)
	for n := 1; n < 3; n++ {
		if files[n] == "" {
			continue
		}
		text := "api_keys:\n" + files[n]
		switch d.IntN(6) {
		case 0:
			text = strings.ReplaceAll(text, "\n", "\r\n")
		case 1:
			text = "\ufeff" + text
		}
		texts = append(texts, config.Text{Path: filepath.Join(d.folder, "keys.d", fmt.Sprintf("%d.yaml", n)), Text: []byte(text)})
	}
	return texts
}

func endsOf(c *config.Config) map[config.Digest]config.Expiry {
	ends := map[config.Digest]config.Expiry{}
	for i := range c.APIKeys {
		for _, h := range c.APIKeys[i].Hashes {
			ends[h.Hash] = c.APIKeys[i].EndOf(h)
		}
	}
	return ends
}

// TestEndedStaysEnded rolls drawn configurations back, in files that somebody has changed since:
// no hash is good for longer than it is in force, or than its file says by now.
func TestEndedStaysEnded(t *testing.T) {
	d := drawn{rand.New(rand.NewPCG(22, 4)), t.TempDir(), time.Now()}
	did, refused := 0, map[string]int{}
	rounds := 15 // of a tenth of a second each
	if sqltest.Soak() {
		rounds = 1000
	}
	for round := range rounds {
		require.NoError(t, os.RemoveAll(filepath.Join(d.folder, "keys.d")))
		target, inForce, disk := d.texts(), d.texts(), d.texts()
		if round%2 == 0 {
			disk = slices.Clone(inForce)
		}
		current, err := desk.ReadForKeys(inForce)
		if err != nil {
			refused["drawn wrongly: "+firstLine(err)]++
			continue
		}
		if _, err := desk.ReadForKeys(target); err != nil {
			continue
		}
		if round%5 == 1 { // what it included is not in force any more
			disk[0].Text = bytes.Replace(disk[0].Text, []byte("include: "), []byte("#include: "), 1)
		}
		for _, text := range disk {
			require.NoError(t, os.MkdirAll(filepath.Dir(text.Path), 0o700))
			require.NoError(t, os.WriteFile(text.Path, text.Text, 0o600))
		}
		written, err := desk.LoadForKeys(disk[0].Path)
		if err != nil || config.Lost(current, written) != nil { // which ends nothing
			continue
		}
		now := time.Now()
		plan, err := Prepare(disk[0].Path, target, inForce, now)
		if err != nil {
			refused[firstLine(err)]++
			continue
		}
		require.NoError(t, plan.Apply())
		after, err := desk.LoadForKeys(disk[0].Path)
		require.NoError(t, err)
		force, there := endsOf(current), endsOf(written)
		for hash, end := range endsOf(after) {
			for _, other := range []map[config.Digest]config.Expiry{force, there} {
				until, known := other[hash]
				what := fmt.Sprintf("round %d, hash %s: until %s, was until %s (known %t)\n%s\n---\n%s", round, hash.Short(), end, until, known, disk, target)
				switch {
				case !known:
					require.True(t, end.Passed(time.Now().Add(time.Second)), what)
				case !until.IsZero():
					require.False(t, end.IsZero() || end.After(until.Time) && !end.Passed(now), what)
				}
			}
		}
		did++
	}
	t.Log(did, refused)
	require.Greater(t, did, rounds/2)
}

func firstLine(err error) string {
	if problems, ok := errors.AsType[strictyaml.Problems](err); ok {
		return problems[0].Message
	}
	return strings.SplitN(err.Error(), "\n", 2)[0]
}

// TestGoesOnWhereItWasKilled: killed between two files, the same rollback writes the others.
func TestGoesOnWhereItWasKilled(t *testing.T) {
	folder := t.TempDir()
	main := "server: {listen: \"127.0.0.1:0\"}\nops: {listen: \"\"}\nbackend: {dsn: \"sqlite:" + filepath.Join(folder, "x.db") + "\"}\nmail: {folder: \"" + folder + "\"}\n" +
		"include: [\"keys.d/*.yaml\"]\n"
	text := func(name, text string) config.Text {
		return config.Text{Path: filepath.Join(folder, name), Text: []byte(text)}
	}
	key := func(name, hash, more string) string {
		return "api_keys:\n  - name: " + name + "\n    key_sha256: [\"" + strings.Repeat(hash, 32) + "\"]\n    allow: [\"GET /order\"]\n" + more
	}
	target := []config.Text{text("frontdesk.yaml", main), text("keys.d/a.yaml", key("a", "aa", "")), text("keys.d/b.yaml", key("b", "bb", ""))}
	inForce := []config.Text{text("frontdesk.yaml", main+"log: {level: debug}\n"), text("keys.d/a.yaml", key("a", "aa", "    expires: 2020-01-01\n")),
		text("keys.d/b.yaml", key("b", "bb", "    concurrent: 5\n")), text("keys.d/c.yaml", key("c", "cc", ""))}
	files := func() map[string]string {
		t.Helper()
		all := map[string]string{}
		require.NoError(t, filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			all[path] = string(text)
			return err
		}))
		return all
	}
	now := time.Now()
	var whole map[string]string
	for done := 4; done >= 0; done-- {
		require.NoError(t, os.RemoveAll(filepath.Join(folder, "keys.d")))
		require.NoError(t, os.Mkdir(filepath.Join(folder, "keys.d"), 0o700))
		for _, text := range inForce {
			require.NoError(t, os.WriteFile(text.Path, text.Text, 0o600))
		}
		plan, err := Prepare(inForce[0].Path, target, inForce, now)
		require.NoError(t, err)
		require.Len(t, plan.Files, 4)
		for _, f := range plan.Files[:done] {
			require.NoError(t, f.apply())
		}
		if whole == nil {
			whole = files()
			require.Contains(t, whole[target[1].Path], "expires: 2020-01-01")
			continue
		}
		plan, err = Prepare(inForce[0].Path, target, inForce, now.Add(time.Hour))
		require.NoError(t, err, "after %d files", done)
		require.Len(t, plan.Files, 4-done)
		require.NoError(t, plan.Apply())
		require.Equal(t, whole, files(), "after %d files", done)
	}
}

// TestReturningSecrets: what comes back is known to be a secret by what it is, and not by how it is shown: a setting
// or a variable may hold the very word that secrets are shown as.
func TestReturningSecrets(t *testing.T) {
	t.Setenv("FRONTDESK_TEST_NAME", "secret")
	folder := t.TempDir()
	text := func(vendor, secrets string) []config.Text {
		return []config.Text{{Path: filepath.Join(folder, "frontdesk.yaml"), Text: []byte("server: {listen: \"127.0.0.1:0\", vendor: \"" + vendor + "\"}\nops: {listen: \"\"}\nbackend: {dsn: \"sqlite:" +
			filepath.Join(folder, "x.db") + "\"}\nmail: {folder: \"" + folder + "\"}\napi_keys:\n  - name: shop\n    key_sha256: [\"" + strings.Repeat("aa", 32) + "\"]\n    allow: [\"GET /order\"]\n    webhook_secret: " + secrets + "\n")}}
	}
	for _, row := range []struct {
		earlier, current []config.Text
		returning        []string
	}{
		{text("${FRONTDESK_TEST_NAME}", `["one of them", both]`), text("${FRONTDESK_TEST_NAME}", "[both, another]"), []string{"api_keys.shop.webhook_secret"}},
		{text("${FRONTDESK_TEST_NAME}", "[both]"), text("${FRONTDESK_TEST_NAME}", "[both, another]"), nil},
		{text("[secret]", "[both]"), text("Example", "[both]"), nil},
	} {
		require.NoError(t, os.WriteFile(row.current[0].Path, row.current[0].Text, 0o600))
		plan, err := Prepare(row.current[0].Path, row.earlier, row.current, time.Now())
		require.NoError(t, err)
		require.Equal(t, row.returning, plan.Returning)
	}
}
