package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/desk"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/gateway/openapi"
)

// newDemo starts the demo, new, by its own command line.
func newDemo(t *testing.T) *rig.Desk {
	t.Helper()
	d := &rig.Desk{T: t, Log: new(rig.LockedBuffer), Stopped: make(chan struct{})}
	ctx, stop := context.WithCancel(context.Background())
	d.Stop = stop
	read, write := io.Pipe()
	go func() {
		defer close(d.Stopped)
		d.Code = run(desk.Program{Ctx: ctx, Stdin: strings.NewReader(""), Stdout: write, Stderr: d.Log},
			[]string{"demo", "--listen", "127.0.0.1:0", "--ops", rig.FreeAddress(t), "--data", filepath.Join(t.TempDir(), "demo")})
		write.Close()
	}()
	c, err := desk.DemoConfig(demoListen, "", "")
	require.NoError(t, err)
	held, err := rig.ContractOf(c, desk.DemoEnvironment)
	require.NoError(t, err)
	d.HTTP = &http.Client{Transport: &rig.Holding{
		RoundTripper: &http.Transport{}, Contract: held, Base: &d.Base, Fault: func(err error) { t.Error(err) },
	}}
	t.Cleanup(d.Shutdown)
	scanner := bufio.NewScanner(read)
	for scanner.Scan() {
		if base, ok := strings.CutPrefix(scanner.Text(), "ready: "); ok {
			d.Base = strings.TrimSuffix(base, "/")
			go io.Copy(io.Discard, read)
			return d
		}
	}
	t.Fatalf("the demo did not start:\n%s", d.Log)
	return nil
}

// judged are the descriptions, but for their addresses, that loadDescription has judged.
var (
	judged       sync.Map
	addressOfOne = regexp.MustCompile(`"url":"http://[^"]*"`)
)

// loadDescription reads a description, judging it and its examples. That takes two seconds
// for the description of everything, which several desks have: it is judged once.
func loadDescription(t *testing.T, text []byte) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(t, err)
	if _, again := judged.LoadOrStore(string(addressOfOne.ReplaceAll(text, nil)), true); !again {
		require.NoError(t, doc.Validate(context.Background(), openapi3.EnableExamplesValidation()))
	}
	return doc
}

func TestOpenAPICommand(t *testing.T) {
	code, text, stderr := cli("", "openapi", "--demo", "--key", "demo-full")
	require.Zero(t, code, stderr)
	require.Equal(t, openapi.Version31, loadDescription(t, []byte(text)).OpenAPI)
	require.Less(t, len(text), 430<<10, "what operations share is said once")
	d := newDemo(t)
	served := d.Call("GET", "/openapi.json?api_key="+desk.DemoFullKey, "", "")
	require.JSONEq(t, strings.ReplaceAll(string(served.Body), d.Base, "http://127.0.0.1:8080/webservice_v2"), text, "what is printed is what is served")

	code, old, stderr := cli("", "openapi", "--demo", "--key", "demo-full", "--version", "3.0")
	require.Zero(t, code, stderr)
	require.Equal(t, openapi.Version30, loadDescription(t, []byte(old)).OpenAPI)
	for _, since := range []string{`"examples":[`, `"const":`, `"null"`, `"contentEncoding"`} {
		require.NotContains(t, old, since, "3.1 has that, 3.0 has not")
	}

	code, _, stderr = cli("", "openapi", "--demo", "--key", "nobody")
	require.Equal(t, 2, code)
	require.Equal(t, "frontdesk: --key nobody: there is no api_key of that name; frontdesk key list shows which there are\n", stderr)
	code, _, _ = cli("", "openapi", "--key", "demo-full")
	require.Equal(t, 2, code)
}

// TestOpenAPIDrift: an answer that is not as it is described is noticed.
func TestOpenAPIDrift(t *testing.T) {
	c, err := desk.DemoConfig(demoListen, "", "")
	require.NoError(t, err)
	offer, err := desk.OfferOf(c)
	require.NoError(t, err)
	g, err := desk.DescribingGateway(c, offer, desk.DemoEnvironment)
	require.NoError(t, err)
	told, err := g.Describe(rig.EveryKey(g.Grants()), openapi.Version31)
	require.NoError(t, err)
	text, d := string(told), newDemo(t)
	token := d.Login(desk.DemoFullKey, "demo")
	for what, change := range map[string][2]string{
		"a field that is gone":         {`"invoice_number":{`, `"invoice_no":{`},
		"a type":                       {`"total_excl":{"type":["number","null"]`, `"total_excl":{"type":["string","null"]`},
		"a status":                     {`"200":{"description":"The record."`, `"203":{"description":"The record."`},
		"a header":                     {`"Cache-Control":{"$ref":"#/components/headers/CacheOfRecord"}`, `"X-Cache":{"$ref":"#/components/headers/CacheOfRecord"}`},
		"a header's form":              {`"enum":["private, no-cache","no-store"]`, `"enum":["private","no-store"]`},
		"an operation that is not one": {`"/order/{id}":{"get":{`, `"/order/{id}":{"put":{`},
	} {
		require.Contains(t, text, change[0])
		var faults []error
		altered, err := rig.NewContract([]byte(strings.ReplaceAll(text, change[0], change[1])))
		require.NoError(t, err)
		d.HTTP.CloseIdleConnections()
		d.HTTP.Transport = &rig.Holding{RoundTripper: &http.Transport{}, Contract: altered, Base: &d.Base, Fault: func(err error) { faults = append(faults, err) }}
		d.Call("GET", "/order/42", token, "")
		require.NotEmpty(t, faults, what)
	}
}

// TestForeignOpenAPILint has both kept linters find nothing, in either version. Of the description
// of everything that takes Redocly three seconds, and Spectral twenty: the soak has them
// read each key's in each version, the short form that description once, by Redocly alone.
func TestForeignOpenAPILint(t *testing.T) {
	sqltest.Tool(t, "npm", "node")
	npm := rig.Repository(t, ".ci", "npm")
	if _, err := os.Stat(filepath.Join(npm, "node_modules/.bin/redocly")); err != nil {
		sqltest.Missing(t, "npm", "the linters are missing, which .ci/install-node installs")
	}
	dir := t.TempDir()
	var files []string
	versions := map[string][]string{"demo-full": {"3.0"}, "demo-orders": {"3.1", "3.0"}}
	if sqltest.Soak() {
		versions = map[string][]string{"demo-full": {"3.1", "3.0"}, "demo-orders": {"3.1", "3.0"}}
	}
	for key, versions := range versions {
		for _, version := range versions {
			code, text, stderr := cli("", "openapi", "--demo", "--key", key, "--version", version)
			require.Zero(t, code, stderr)
			file := filepath.Join(dir, key+"-"+version+".json")
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
			files = append(files, file)
		}
	}
	for _, line := range [][]string{
		{"redocly", "lint", "--config", "redocly.yaml", "--max-problems", "20", "--format", "stylish"},
		{"spectral", "lint", "--ruleset", "spectral.yaml", "--fail-severity", "hint", "--quiet"},
	} {
		read := slices.Clone(files)
		if line[0] == "spectral" && !sqltest.Soak() {
			read = slices.DeleteFunc(read, func(file string) bool { return strings.HasPrefix(filepath.Base(file), "demo-full") })
		}
		command := exec.Command(filepath.Join(npm, "node_modules/.bin", line[0]), append(line[1:], read...)...)
		command.Dir = npm
		command.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true", "NO_COLOR=1")
		out, err := command.CombinedOutput()
		require.NoError(t, err, "%s", out)
		require.NotRegexp(t, `\d+ warning|warning  `, string(out))
	}
}
