package main

import (
	"bytes"
	"compress/flate"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/backend/reference"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/await"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/webhook/webhooktest"
	"frontdesk/mapping"
)

// canaries are secrets that were planted: unlike anything else there is, and
// each in a place of its own.
type canaries map[string]string // where it was planted, by its text

// plant returns a new one.
func (c canaries) plant(where string) string {
	return c.keep(where, "Kanarie"+strings.ReplaceAll(uuid.NewString(), "-", ""))
}

// keep counts a text as planted.
func (c canaries) keep(where, text string) string {
	c[text] = where
	return text
}

// search looks for every canary in an output, also encoded.
func (c canaries) search(t *testing.T, output, text string) {
	t.Helper()
	require.NotEmpty(t, text, output)
	for canary, where := range c {
		sum := sha256.Sum256([]byte(canary))
		for form, is := range map[string]string{
			"": canary, "reversed case": strings.ToUpper(canary), "escaped": url.QueryEscape(canary), "hex": hex.EncodeToString([]byte(canary)),
			"sha256": hex.EncodeToString(sum[:]),
			"base64": base64.RawStdEncoding.EncodeToString([]byte(canary)), "base64, shifted by one": inside("x", canary), "base64, shifted by two": inside("xy", canary),
		} {
			if strings.Contains(text, is) {
				at := strings.Index(text, is)
				t.Errorf("%s tells what was planted in %s (%s): …%s…", output, where, form, text[max(0, at-200):min(len(text), at+len(is)+100)])
			}
		}
	}
}

// inside is how a text looks in base64 behind others, less what depends on its
// neighbours.
func inside(before, text string) string {
	encoded := base64.RawStdEncoding.EncodeToString([]byte(before + text))
	return encoded[4 : len(encoded)-2]
}

// brokenStore is the built-in administration, some of which fails.
type brokenStore struct{ *reference.Store }

func (b brokenStore) Get(ctx context.Context, r *mapping.Resource, q backend.Query) (mapping.Record, error) {
	if r.Name == "country" {
		panic("the driver broke")
	}
	return b.Store.Get(ctx, r, q)
}

func (b brokenStore) List(ctx context.Context, r *mapping.Resource, q backend.Query) (backend.Page, error) {
	if r.Name == "country" {
		return backend.Page{}, errors.New("the table is gone")
	}
	return b.Store.List(ctx, r, q)
}

const leakyConfig = `
server: {listen: "127.0.0.1:0", vendor: Example}
ops: {listen: "OPS"}
log: {level: debug}
backend: {dsn: %q}
mail: {smtp: %q, from: frontdesk@example.nl}
webhooks: {allow_hosts: ["127.0.0.1"], ports: [443, %d], ca_file: %q}
tracing: {endpoint: %q, ratio: 1}
%s
api_keys:
  - name: full
    key_sha256: ["e8d95748107aceb93f7fab2901c84c97372d2853a2aea63be35fc4b5822fa19c"]
    allow: ["* /*"]
    webhook_secret: ["${LEAKY_SECRET}", %q]
`

// startLeaky starts a desk of that configuration whose backend is broken in part.
func startLeaky(t *testing.T, text string) *rig.Kept {
	t.Helper()
	k := &rig.Kept{File: filepath.Join(t.TempDir(), "frontdesk.yaml"), Signals: make(chan os.Signal)}
	k.Desk = rig.Desk{T: t, Ops: rig.FreeAddress(t), Log: new(rig.LockedBuffer), Stopped: make(chan struct{}), HTTP: &http.Client{Transport: &http.Transport{}}}
	k.Write(text)
	k.Serve(desk.Program{
		Signals: k.Signals, After: k.Timers.After,
		Wrap: func(d backend.Driver) backend.Driver { return brokenStore{d.(*reference.Store)} },
	}, k.File, true)
	return k
}

// TestRedaction plants secrets in every input, has everything happen that can,
// and looks for them in every output. What a client is answered is its own: an
// answer repeats what was wrong in the request.
func TestRedaction(t *testing.T) {
	rig.OnEngines(t, func(t *testing.T, dsn string) {
		planted, spans, calls := canaries{}, rig.NewSpanReceiver(t), make(chan string, 64)
		authority := webhooktest.NewAuthority(t)
		receiver := authority.Serve(t, "127.0.0.1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			calls <- r.Header.Get("webhook-signature")
			w.WriteHeader(http.StatusTeapot)
		}))
		t.Setenv("LEAKY_SECRET", "whsec_"+base64.StdEncoding.EncodeToString([]byte(planted.plant("the environment"))))
		t.Setenv("LEAKY_UNUSED", planted.plant("an unused variable"))
		if at, err := url.Parse(dsn); err == nil && at.Scheme != "sqlite" {
			at.User = url.UserPassword(at.User.Username(), planted.plant("backend.dsn"))
			dsn = at.String()
		}
		smtp := fmt.Sprintf("smtps://%s:%s@%s", "postman", planted.plant("mail.smtp"), rig.FreeAddress(t))
		text := fmt.Sprintf(leakyConfig, dsn, smtp, webhooktest.Port(t, receiver), authority.File(t),
			spans.URL+"/v1/traces?key="+planted.plant("the query of tracing.endpoint"), "", planted.plant("webhook_secret"))
		own := t.TempDir()
		t.Setenv("STATE_DIRECTORY", own)
		kept := filepath.Join(own, "history")
		if file, ok := strings.CutPrefix(dsn, "sqlite:"); ok {
			kept = file + "-history"
		}
		text = strings.Replace(text, `ops: {listen: "OPS"}`, fmt.Sprintf(`ops: {listen: "OPS", socket: %q}`, filepath.Join(own, "socket")), 1)
		k := startLeaky(t, text)

		token := planted.keep("a live token", k.Login(rig.FullKey, "demo"))
		planted.keep("a live api_key", rig.FullKey)
		askEverything(t, k, planted, token)
		signed := leakyCallback(t, k, planted, token, receiver.URL, calls)
		planted.keep("the query of data.url", signed[strings.Index(signed, "?")+1:])

		// A reload that is refused, with a secret in what is wrong.
		k.Write(strings.Replace(text, "log: {level: debug}", fmt.Sprintf("log: {level: debug, colour: %q}\nbackup: {password: %q}", planted.plant("an unknown setting"), planted.plant("an unknown section")), 1))
		k.HangUp()
		for output, text := range operatorOutputs(t, k, "/", "/config") {
			planted.search(t, output, text)
		}
		// One that changes what is secret, and needs a restart.
		k.Write(strings.Replace(text, "/v1/traces?key=", "/"+planted.plant("the path of tracing.endpoint")+"?key=", 1))
		k.HangUp()
		require.Contains(t, k.OpsText("/readyz"), "tracing.endpoint")
		for output, text := range operatorOutputs(t, k, operatorPages(t, k)...) {
			planted.search(t, output, text)
		}
		k.Write(text)
		for output, text := range commandOutputs(t, k) {
			planted.search(t, output, text)
		}
		k.Shutdown()
		planted.search(t, "the log", k.Log.String())
		require.Contains(t, k.Log.String(), "panic: the driver broke", "a panic is logged")
		require.Contains(t, k.Log.String(), "the table is gone", "so is a failure")
		history := historyOf(t, kept)
		planted.search(t, "the file of the history", history)
		require.Contains(t, history, "token_invalid")
		require.NotContains(t, history, "demo", "the name of a user")
		require.NotEmpty(t, spans.All())
		planted.search(t, "the spans", string(spans.Raw))
	})
}

// askEverything sends secrets wherever a request has room for them.
func askEverything(t *testing.T, k *rig.Kept, planted canaries, token string) {
	t.Helper()
	ask := func(status int, method, path, token, body string, headers ...string) {
		t.Helper()
		a := must.Have(k.Try(method, path, token, body, headers...))(t)
		assert.Equal(t, status, a.Status, "%s: %s", path, a.Body)
	}
	ask(401, "GET", rig.LoginPath(planted.keep("api_key", uuid.NewString()), planted.plant("username"), planted.plant("password")), "", "")
	ask(401, "GET", rig.LoginPath(rig.FullKey, "demo", planted.plant("the wrong password of a user")), "", "")
	ask(400, "GET", rig.LoginPath(rig.FullKey, "demo", "a%26"+planted.plant("a password with &"))+"&"+planted.plant("a password after a bare &")+"=1", "", "")
	ask(400, "GET", "/authenticate?password="+planted.plant("a repeated password")+"&password="+planted.plant("its repetition"), "", "")
	ask(401, "GET", "/order/1", planted.plant("a token that is none"), "")
	ask(401, "GET", "/order/1", planted.keep("an unknown token", uuid.NewString()), "")
	ask(200, "GET", "/order/1", token, "", "Authorization", "Bearer "+planted.plant("Authorization"), "Cookie", "session="+planted.plant("a cookie"),
		"X-Api-Key", planted.plant("a header"), "User-Agent", planted.plant("User-Agent"), "Referer", "https://x/?"+planted.plant("Referer"))
	ask(400, "GET", "/order?"+planted.plant("the name of an unknown parameter")+"="+planted.plant("its value"), token, "")
	ask(200, "GET", "/contact?name="+planted.plant("a filter"), token, "")
	ask(400, "GET", "/"+planted.plant("a path"), token, "")
	ask(403, "GET", "/order/"+planted.plant("an item"), token, "")
	ask(400, planted.plant("a method"), "/order", token, "")
	ask(403, "POST", "/contact", token, fmt.Sprintf(`{"password":%q,"name":%q}`, planted.plant("a field"), planted.plant("a field of the model")),
		"Idempotency-Key", planted.plant("Idempotency-Key"))
	ask(400, "POST", "/contact", token, planted.plant("a body that is no JSON"))
	ask(500, "GET", "/country/1?fields=id", token, "", "Authorization", planted.plant("Authorization of what panics"))
	ask(500, "GET", "/country?name="+planted.plant("a filter of what fails"), token, "")
	ask(200, "POST", "/authenticate/forgotpassword", token, `{"username":"demo"}`)
	ask(400, "GET", "/authenticate/resetpassword?token="+planted.plant("the token of a reset link"), "", "")
	a := must.Have(k.Try("POST", "/authenticate/resetpassword", "", "token="+planted.plant("a reset form")+"&password="+planted.plant("a new password")))(t)
	require.GreaterOrEqual(t, a.Status, 400)
	ask(401, "GET", "/openapi.json?api_key="+planted.keep("api_key of the description", uuid.NewString()), "", "")
}

// leakyCallback has a callback made whose receiver refuses it, and returns the
// signed address of the result after it was used.
func leakyCallback(t *testing.T, k *rig.Kept, planted canaries, token, receiver string, calls <-chan string) string {
	t.Helper()
	a := must.Have(k.Try("POST", "/backup/owner", token, fmt.Sprintf(`{"webhook_url":"%s/hook?key=%s"}`, receiver, planted.plant("the query of webhook_url"))))(t)
	id := a.Promise(t)
	// Before it is collected: nobody is called about a result that was fetched.
	planted.keep("the signature of a callback", <-calls)
	var signed string
	await.True(t, func() bool {
		a, err := k.Try("GET", "/webhook?id="+id, token, "")
		if err != nil || a.Status != 200 {
			return false
		}
		signed = a.Data(t)["url"].(string)
		return true
	})
	for _, address := range []string{signed, signed + "x"} {
		must.Have(k.Try("GET", strings.TrimPrefix(address, k.Base), "", ""))(t)
	}
	return signed
}

// operatorOutputs are what the ops listener tells, and what a dump of the program
// would hold of its work.
func operatorOutputs(t *testing.T, k *rig.Kept, pages ...string) map[string]string {
	t.Helper()
	outputs := map[string]string{}
	for _, path := range []string{"/status.json", "/metrics", "/readyz", "/healthz"} {
		outputs[path] = k.OpsText(path)
	}
	for _, path := range pages {
		outputs[path] = k.OpsText(path)
		outputs[path+" as JSON"] = string(k.AskOps(path, "Accept", "application/json").Body)
	}
	require.Equal(t, 404, k.AskOps("/debug/pprof/").Status, "profiles hold everything")
	var dump bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&dump, 2))
	outputs["a dump of all goroutines"] = dump.String()
	return outputs
}

var linked = regexp.MustCompile(`href="(/[^"]*)"`)

// operatorPages are the operators' pages that can be reached by clicking, one of each sort.
func operatorPages(t *testing.T, k *rig.Kept) []string {
	t.Helper()
	pages, seen := []string{"/"}, map[string]bool{}
	for i := 0; i < len(pages); i++ {
		for _, link := range linked.FindAllStringSubmatch(k.OpsText(pages[i]), -1) {
			at := must.Have(url.Parse(html.UnescapeString(link[1])))(t)
			page, _, ofJob := strings.Cut(at.Path, "/callbacks/")
			sort := fmt.Sprint(page, ofJob, slices.Sorted(maps.Keys(at.Query())))
			if !seen[sort] {
				seen[sort] = true
				pages = append(pages, at.RequestURI())
			}
		}
	}
	require.Greater(t, len(pages), 15, "%q", pages)
	return pages
}

// historyOf is what the history's file has.
func historyOf(t *testing.T, file string) string {
	t.Helper()
	packed, found := strings.CutPrefix(rig.Read(t, file), "frontdesk history\n")
	require.True(t, found)
	return string(must.Have(io.ReadAll(flate.NewReader(strings.NewReader(packed))))(t))
}

// commandOutputs are what the commands say of the configuration, of a broken one,
// and of the log.
func commandOutputs(t *testing.T, k *rig.Kept) map[string]string {
	t.Helper()
	outputs := map[string]string{}
	say := func(args ...string) {
		t.Helper()
		_, stdout, stderr := cli("", args...)
		outputs["frontdesk "+strings.Join(args, " ")] = stdout + stderr
	}
	log := filepath.Join(t.TempDir(), "frontdesk.log")
	require.NoError(t, os.WriteFile(log, []byte(k.Log.String()), 0o600))
	for _, format := range []string{"--json=false", "--json"} {
		say("check", "--config", k.File, format)
		say("audit", "--config", k.File, format, log)
		say("explain", "--config", k.File, "--key", "full", format, "DELETE /order/5?x=1")
	}
	say("whatif", "--config", k.File, log)
	say("allow", "learn", "--config", k.File, "--key", "full", log)
	say("allow", "unused", "--config", k.File, log)
	say("key", "list", "--config", k.File)
	say("user", "list", "--config", k.File)
	say("callbacks", "list", "--config", k.File)
	say("sessions", "list", "--config", k.File) // by the socket
	say("check", "--config", k.File, "--against", k.Ops)
	return outputs
}

// TestRedactionOfMistakes: secrets in what is mistyped, and what variables hold that are
// named in the wrong place, are in no message of any command.
func TestRedactionOfMistakes(t *testing.T) {
	const hush = "Kanarie8f3a"
	folder := t.TempDir()
	t.Setenv("LEAKY_WORD", hush)
	t.Setenv("LEAKY_FOLDER", filepath.Join(folder, hush))
	require.NoError(t, os.Mkdir(filepath.Join(folder, hush), 0o700))
	plain := fmt.Sprintf("server: {listen: \"127.0.0.1:0\"}\nops: {listen: \"\"}\nmail: {folder: %q}\nbackend: {dsn: %q}\n", filepath.Join(folder, "mail"), "sqlite:"+filepath.Join(folder, "frontdesk.db"))
	withDSN := func(dsn string) string {
		return strings.Replace(plain, "sqlite:"+filepath.Join(folder, "frontdesk.db"), strings.ReplaceAll(dsn, "HUSH", hush), 1)
	}
	broken := map[string]string{
		"a variable to include":            plain + "include: [\"${LEAKY_WORD}\"]\n",
		"a variable in a pattern":          plain + "include: [\"${LEAKY_WORD}/**/*.yaml\", \"[${LEAKY_WORD}\"]\n",
		"a variable for a folder":          plain + "include: [\"${LEAKY_FOLDER}\"]\n",
		"a variable twice":                 plain + "include: [\"${LEAKY_FOLDER}/../x.yaml\", \"${LEAKY_FOLDER}/../x.yaml\"]\n",
		"a variable for the model":         plain + "model: {dir: \"${LEAKY_FOLDER}/none\"}\n",
		"a variable for a sheet":           strings.Replace(plain, "backend: {", "backend: {driver: legacy, sheet: \"${LEAKY_FOLDER}/none.yaml\", ", 1),
		"a variable for the tracing":       plain + "tracing: {endpoint: \"${LEAKY_WORD}\"}\n",
		"a password in the tracing":        plain + "tracing: {endpoint: \"http://u:" + hush + "@h\"}\n",
		"a password in the public address": strings.Replace(plain, "server: {", "server: {public_url: \"https://u:"+hush+"@h/?"+hush+"\", ", 1),
		"a password in sessions":           plain + "sessions: {store: \"redis:/u:" + hush + "@h\"}\n",
		"an unknown setting":               plain + "log: {colour: " + hush + "}\n",
		"a missing variable":               withDSN("postgres://u:HUSH@${LEAKY_MISSING}/db"),
		"a password in mail":               plain + "mail: {smtp: \"smtp//u:" + hush + "@h\", from: a@example.nl}\n",
	}
	for _, dsn := range []string{
		"sqlite://u:HUSH@h", "sqlite://u:HUSH@h/db?x", "sqlite//u:HUSH@h", "u:HUSH@h/db", "mysql://u:HUSH@h/db", "postgres//u:HUSH@h/db", "postgresql:u:HUSH@h",
		"postgres://u:HUSH", "postgres://u:HUSH@h:port/db", "postgres://u:HU SH@h/db", "postgres://u:%zzHUSH@h/db", "postgres://u:p?HUSH@h/db", "postgres://u:1?HUSH@h/db",
		"postgres://u:p/HUSH@h/db", "postgres://u:p#HUSH@h/db", "postgres://u:HUSH@127.0.0.1:1/db", "postgres://u:HUSH@127.0.0.1:1/db?sslmode=HUSH",
		"postgres://u@127.0.0.1:1/db?password=HUSH&connect_timeout=HUSH", "postgres://u:HUSH@127.0.0.1:1,127.0.0.1:x/db",
	} {
		broken["dsn "+dsn] = withDSN(dsn)
	}
	file := filepath.Join(folder, "frontdesk.yaml")
	for name, text := range broken {
		t.Run(strings.ReplaceAll(name, "/", "∕"), func(t *testing.T) {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			for _, args := range [][]string{
				{"check"}, {"check", "--json"}, {"audit"}, {"key", "list"}, {"key", "new", "webshop"}, {"explain", "--key", "none", "GET /order"},
				{"user", "list"}, {"user", "block", "jan"}, {"callbacks", "list"}, {"migrate"}, {"backup", "--client", "x", "--out", filepath.Join(folder, "x.zip")}, {"serve"},
			} {
				code, stdout, stderr := cli("secret-password\n", append(args, "--config", file)...)
				said := stdout + stderr
				if args[0] == "serve" {
					require.True(t, code != 0 || strings.Contains(said, startWaits), "%s", said)
				}
				require.NotContains(t, said, hush[:7], "%s", args)
				require.NotContains(t, said, "HU SH", "%s", args)
			}
		})
	}
}
