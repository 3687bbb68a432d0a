package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/auth/redis/redistest"
	"frontdesk/backend/legacy/legacytest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook/webhooktest"
)

// What check cannot know, and serve then finds: servers on other machines that do not
// answer or refuse, an address that is not this machine's, a port that is in use or that
// the user may not have, files that others hold a lock on, and a disk that is full.
// None of the configurations below has any of it.

// startsWhere are configurations that are right elsewhere: what has to be replaced for them
// to be right here.
var startsWhere = map[string]*strings.Replacer{
	"contract.yaml": strings.NewReplacer("127.0.0.1:8080", "127.0.0.1:0", "127.0.0.1:9090", ""),
	"full.yaml": strings.NewReplacer("0.0.0.0:443", "127.0.0.1:0", "postgres://frontdesk:${SECRET}@db/frontdesk", "PG",
		"postgresql://frontdesk:${SECRET}@standby/frontdesk", `""`, "drain_delay: 4s", "drain_delay: 1ms"),
}

// ofTheMachine are the lines about what a configuration names on the machine.
var ofTheMachine = regexp.MustCompile(`(?m)^.* \[(folder|tls-files|ca-file)\]\n`)

// TestCheckIsServe: serve starts with every configuration that check calls right, and
// refuses the others in the same words. Check changes nothing.
func TestCheckIsServe(t *testing.T) {
	for name, value := range map[string]string{"SECRET": "hush-hush", "EMPTY": "", "CALLS": "32", "HUSHED": "empty.pem"} {
		t.Setenv(name, value)
	}
	t.Setenv("DEALERPAK_DSN", legacytest.SQLite(t))
	sheet := rig.Read(t, filepath.Join(must.Have(legacytest.Files())(t), "sqlite.yaml"))
	golden, ofConfig := rig.Repository(t, "cmd", "frontdesk", "testdata", "check"), rig.Repository(t, "config", "testdata")
	t.Chdir(machine(t, sheet))
	tried := 0
	for _, folder := range []string{golden, ofConfig} {
		files := must.Have(filepath.Glob(filepath.Join(folder, "*.yaml")))(t)
		for _, file := range files {
			tried++
			name := filepath.Base(file)
			t.Run(name, func(t *testing.T) {
				text := rig.Read(t, file)
				if where := startsWhere[name]; where != nil {
					text = where.Replace(text)
				}
				require.NoError(t, os.WriteFile(name, []byte(ofThisMachine(t, text)), 0o600))
				defer os.Remove(name)
				right := !strings.HasSuffix(name, ".bad.yaml")
				out := checkedAsServed(t, name, right)
				_, elsewhere, _ := cli("", "check", "--elsewhere", "--config", name)
				if said := ofTheMachine.ReplaceAllString(out, ""); right || said == "" {
					require.Contains(t, elsewhere, " is right: ")
				} else {
					require.Equal(t, said, elsewhere)
				}
				if folder == golden && strings.HasSuffix(name, ".bad.yaml") {
					requireGolden(t, strings.TrimSuffix(file, ".yaml")+".txt", out)
				}
			})
		}
	}
	require.Greater(t, tried, 100)
}

// machine makes a folder with what the configurations name, and what they must not.
func machine(t *testing.T, sheet string) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS(rig.Repository(t, "config", "testdata"))))
	at := func(parts ...string) string { return filepath.Join(append([]string{dir}, parts...)...) }
	ca := webhooktest.NewAuthority(t)
	rig.WriteCertificate(t, ca, at("cert.pem"), at("other.pem"), 10)
	rig.WriteCertificate(t, ca, at("cert.pem"), at("key.pem"), 10)
	without := func(of, what, with string) string {
		require.Contains(t, of, what)
		return strings.Replace(of, what, with, 1)
	}
	resource := func(name string) string {
		return rig.Read(t, rig.Repository(t, "mapping", "resources", name+".yaml"))
	}
	order, country := resource("order"), resource("country")
	loopback := strings.NewReplacer("${LOOPBACK_URL}", "http://127.0.0.1:1", "${FOREIGN_PASSWORD_HASH}", rig.PasswordHash("demo")).
		Replace(rig.Read(t, rig.Repository(t, "backend", "remote", "testdata", "loopback.yaml")))
	for name, text := range map[string]string{
		"ca.pem": rig.Read(t, ca.File(t)), "empty.pem": "", "busy.db-callbacks": "", "text.db": strings.Repeat("text ", 1000), "foreign.db": "", "gone.db-spare": "", "dealerpak.yaml": sheet,
		"resources/country.yaml":         country,
		"models/rule/order.yaml":         without(order, "rules: [order_status]", "rules: [order_status, order_stauts]"),
		"models/dropped/country.yaml":    without(country, "module: basics\n", "module: basics\nrules: [postcode]\n"),
		"models/kept/order.yaml":         without(order, "name: total_excl\n    type: float8\n    scale: 2", "name: total_excl\n    type: float8\n    scale: 3"),
		"models/kept/turnovergroup.yaml": without(resource("turnovergroup"), "name: vat_kind", "name: vat_sort"),
		"models/kept/document.yaml":      without(resource("document"), "name: size\n    type: int4", "name: size\n    type: float8"),
		"models/table/counter.yaml":      without(country, "name: country", "name: counter"),
		"loopback.yaml":                  loopback,
		"wrong/country.yaml":             "name: country\ndescription: Countries.\nfields:\n  - {name: code, typ: int4}\n",
		"wrong.yaml":                     "format: 2\nbogus: 1\n" + without(sheet, "format: 2\n", ""),
		"lost.yaml":                      without(sheet, "keep: ", "keep: gone/"),
		"keys.yaml":                      "api_keys:\n  - {name: webshop, key_sha256: [" + shopHash + "], allow: [GET /order]}\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(at(name)), 0o700))
		require.NoError(t, os.WriteFile(at(name), []byte(text), 0o600))
	}
	rig.AskSQLite(t, at("foreign.db"), `CREATE TABLE "order" (id)`)
	require.NoError(t, os.Symlink("loop.yaml", at("loop.yaml")))
	require.NoError(t, os.Symlink("gone/for/good", at("link")))
	require.NoError(t, os.Symlink("linked.db", at("link.db")))
	require.NoError(t, os.Symlink("gone", at("lost.db-callbacks")))
	return dir
}

// ofThisMachine puts the servers and the ports of this machine into a configuration.
func ofThisMachine(t *testing.T, text string) string {
	t.Helper()
	if strings.Contains(text, "PORT") {
		_, port, _ := strings.Cut(rig.FreeAddress(t), ":")
		text = strings.ReplaceAll(text, "PORT", port)
	}
	if strings.Contains(text, "PG") {
		text = strings.ReplaceAll(text, "PG", rig.Engines[1].DSN(t))
	}
	if strings.Contains(text, "REDIS") {
		url, authority := redistest.StartTLS(t)
		text = strings.NewReplacer("REDIS", url, "AUTHORITY", authority).Replace(text)
	}
	return text
}

// checkedAsServed holds check and serve to each other, and returns what check says.
func checkedAsServed(t *testing.T, file string, right bool) string {
	t.Helper()
	before := tree(t)
	code, out, stderr := cli("", "check", "--config", file)
	require.Equal(t, before, tree(t), "check made something, or changed it")
	require.Equal(t, right, code == 0, "%s%s", out, stderr)
	served, ready, said := served(t, file)
	require.Equal(t, code, served, "check says:\n%sserve says:\n%s", out, said)
	require.Equal(t, right, ready, said)
	if !right {
		require.Equal(t, 2, code)
		require.Equal(t, out, strings.Split(said, "frontdesk: ")[0])
	}
	return out
}

// served starts serve, and stops it as soon as it is ready.
func served(t *testing.T, file string) (code int, ready bool, stderr string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	read, write := io.Pipe()
	var problems rig.LockedBuffer
	ended := make(chan int)
	go func() {
		defer write.Close()
		code := run(desk.Program{Ctx: ctx, Stdin: strings.NewReader(""), Stdout: write, Stderr: &problems}, []string{"serve", "--config", file, "--no-watch"})
		go func() { ended <- code }()
	}()
	for lines := bufio.NewScanner(read); lines.Scan(); {
		ready = ready || strings.HasPrefix(lines.Text(), "ready: ")
		stop()
	}
	return <-ended, ready, problems.String()
}

// tree is what there is in this folder: names, modes, sizes and times.
func tree(t *testing.T) (all []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		all = append(all, fmt.Sprint(path, info.Mode(), info.Size(), info.ModTime()))
		return err
	}))
	return all
}

var (
	update = flag.Bool("update", false, "write the golden files in testdata anew")
	ports  = regexp.MustCompile(`:[0-9]{4,5}"`)
)

// requireGolden holds what was said to a file.
func requireGolden(t *testing.T, file, said string) {
	t.Helper()
	said = ports.ReplaceAllString(strings.ReplaceAll(said, must.Have(os.Getwd())(t), "HERE"), `:PORT"`)
	require.NotContains(t, said, "hush")
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(said), 0o644))
	}
	assert.Empty(t, cmp.Diff(rig.Read(t, file), said), "problems (-want +got)")
}

// shopHash is the hash of an api_key.
const shopHash = "e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"

// TestCheckForItsUser: what root may write, and the user that serves may not.
func TestCheckForItsUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can ask as somebody else")
	}
	binary := rig.Binary(t)
	dir, err := os.MkdirTemp("", "frontdesk-check-") // where others may go too
	require.NoError(t, err)
	defer os.RemoveAll(dir)
	require.NoError(t, os.Chmod(dir, 0o755))
	program := filepath.Join(dir, "frontdesk")
	require.NoError(t, os.WriteFile(program, []byte(rig.Read(t, binary)), 0o755))
	file := filepath.Join(dir, "frontdesk.yaml")
	for _, folder := range []string{"own", "taken", "half"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, folder), 0o755))
	}
	const nobody = 65534
	require.NoError(t, os.Chown(filepath.Join(dir, "own"), nobody, nobody))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "taken", "frontdesk.db"), nil, 0o644))
	for _, name := range []string{"frontdesk.db", "frontdesk.db-serve"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "half", name), nil, 0o644))
		require.NoError(t, os.Chown(filepath.Join(dir, "half", name), nobody, nobody))
	}
	var capabilities []uintptr // beside those of the user
	check := func(folders ...any) string {
		require.NoError(t, os.WriteFile(file, fmt.Appendf(nil, "backend: {dsn: \"sqlite:%s/frontdesk.db\"}\nmail: {folder: %s/mail}\n", folders...), 0o644))
		c := exec.Command(program, "check", "--config", file)
		c.Dir = dir
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}, AmbientCaps: capabilities}
		out, _ := c.CombinedOutput()
		return strings.ReplaceAll(string(out), dir, "HERE")
	}
	require.Contains(t, check("own", "own"), "is right")
	require.Equal(t, `HERE/frontdesk.yaml:1:16: backend.dsn: HERE/taken/frontdesk.db cannot be written by user nobody [folder]
HERE/frontdesk.yaml:2:16: mail.folder: HERE/taken cannot be written by user nobody [folder]
frontdesk: HERE/frontdesk.yaml has 2 problems
`, check("taken", "taken"))
	require.Contains(t, check(".", "own"), "backend.dsn: HERE cannot be written by user nobody [folder]")
	require.Contains(t, check("half", "own"), "backend.dsn: HERE/half cannot be written by user nobody [folder]", "SQLite makes files beside its own")
	require.Contains(t, check("own", "own"), "Folders and files were judged for user nobody in HERE.\n")
	const dacOverride = 1 // CAP_DAC_OVERRIDE, which AmbientCapabilities of a systemd unit gives
	capabilities = []uintptr{dacOverride}
	require.Contains(t, check("taken", "taken"), "is right")
}

// misspelled are the ways in which an endpoint is written that there is: as logs and pages
// have it, in the plural, with a letter that is wrong or missing. Sure are those of which
// nobody doubts what was meant.
func misspelled(path string) (sure, near []string) {
	for _, id := range []string{"/{id}", "/:id", "/<id>", "/7"} {
		sure = append(sure, path+id)
	}
	near = append(near, path+"s", path+"/x")
	end := strings.IndexByte(path[1:]+"/", '/') + 1
	for i := 1; i < end; i++ {
		near = append(near, path[:i]+"x"+path[i+1:], path[:i]+path[i+1:], path[:i]+path[i+1:]+"/7")
	}
	return sure, near
}

// TestSuggestGrantsNothingElse: whatever is suggested for an endpoint that is misspelled is
// that endpoint, or nothing. Before, the spelling of the log, GET /order/{id}, was taken for
// GET /orderline.
func TestSuggestGrantsNothingElse(t *testing.T) {
	offer := must.Have(desk.OfferOf(config.Default()))(t)
	meant := map[string]map[string]bool{} // the resources, by what is written
	surely := map[string]string{}
	add := func(written, path string) {
		if meant[written] == nil {
			meant[written] = map[string]bool{}
		}
		meant[written][path] = true
	}
	for _, e := range gateway.Endpoints(offer) {
		if e.Path == "/" || strings.HasSuffix(e.Path, "/*") {
			continue
		}
		sure, near := misspelled(e.Path)
		for _, written := range append(sure, near...) {
			add(e.Method+" "+written, e.Path)
		}
		for _, written := range sure {
			surely[e.Method+" "+written] = e.Method + " " + e.Path
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "api_keys:\n  - name: webshop\n    key_sha256: [%s]\n    allow:\n", shopHash)
	for written := range meant {
		fmt.Fprintf(&b, "      - %q\n", written)
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("frontdesk.yaml", []byte(b.String()), 0o600))
	code, out, _ := cli("", "check", "--config", "frontdesk.yaml")
	require.Equal(t, 2, code)
	form := regexp.MustCompile(`found "([^"]+)", no such endpoint(?:, did you mean ([^?]+)\?)?`)
	told, suggested := 0, 0
	for line := range strings.Lines(out) {
		found := form.FindStringSubmatch(line)
		require.NotNil(t, found, line)
		written, suggestion := found[1], found[2]
		told++
		if want, ok := surely[written]; ok {
			require.Equal(t, want, suggestion, line)
		}
		if suggestion == "" {
			continue
		}
		suggested++
		method, path, _ := strings.Cut(suggestion, " ")
		require.True(t, strings.HasPrefix(written, method+" "), line)
		for other := range meant[written] {
			require.Equal(t, resourceOf(other), resourceOf(path), "%q may be meant as well: %s", other, line)
		}
	}
	require.Greater(t, told, 3000)
	require.Greater(t, suggested, told*9/10, "what is near is suggested")
}

// resourceOf is the first part of a path.
func resourceOf(path string) string {
	resource, _, _ := strings.Cut(path[1:], "/")
	return resource
}
