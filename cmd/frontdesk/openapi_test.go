package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
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
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/gateway/openapi"
)

// newDemo starts the demo, new.
func newDemo(t *testing.T) *rig.Desk {
	t.Helper()
	return startDemo(t, "--data", filepath.Join(t.TempDir(), "demo")).Desk
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
	doc := must.Have(openapi3.NewLoader().LoadFromData(text))(t)
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
}

// TestOpenAPIDrift: an answer that is not as it is described is noticed.
func TestOpenAPIDrift(t *testing.T) {
	c := must.Have(desk.DemoConfig(demoListen, "", ""))(t)
	g := must.Have(desk.DescribingGateway(c, must.Have(desk.OfferOf(c))(t), desk.DemoEnvironment))(t)
	text, d := string(must.Have(g.Describe(rig.EveryKey(g.Grants()), openapi.Version31))(t)), newDemo(t)
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
		altered := must.Have(rig.NewContract([]byte(strings.ReplaceAll(text, change[0], change[1]))))(t)
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

// exampleRequest is a request as the description's examples make it.
type exampleRequest struct {
	operation, method, path, body string
	headers                       []string
	success                       []string
}

// exampleRequests are every example of a description: each body with what is
// required, and each optional parameter that has an example by itself.
func exampleRequests(doc *openapi3.T) []exampleRequest {
	var all []exampleRequest
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			all = append(all, examplesOf(path, method, op)...)
		}
	}
	// What is deleted was made before, and the session ends last.
	order := func(r exampleRequest) string {
		rank := map[bool]string{true: "1"}[r.method == "DELETE"] + map[bool]string{true: "2"}[r.operation == "logout"]
		return rank + r.path + " " + r.method
	}
	slices.SortStableFunc(all, func(a, b exampleRequest) int { return cmp.Compare(order(a), order(b)) })
	return all
}

func examplesOf(path, method string, op *openapi3.Operation) (all []exampleRequest) {
	base := exampleRequest{operation: op.OperationID, method: method}
	for status := range op.Responses.Map() {
		if status < "4" {
			base.success = append(base.success, status)
		}
	}
	required, optional := url.Values{}, url.Values{}
	var tag []string
	for _, p := range op.Parameters {
		example, is := exampleOf(p.Value)
		switch {
		case !is:
		case p.Value.In == "path":
			path = strings.ReplaceAll(path, "{"+p.Value.Name+"}", example)
		case p.Value.In == "header":
			if p.Value.Name == "If-Match" && method != "DELETE" {
				tag = []string{p.Value.Name, example}
			}
		case p.Value.Required:
			required.Set(p.Value.Name, example)
		default:
			optional.Set(p.Value.Name, example)
		}
	}
	with := func(query url.Values) string { return strings.TrimSuffix(path+"?"+query.Encode(), "?") }
	base.path = with(required)
	if all = []exampleRequest{base}; op.RequestBody != nil {
		all = nil // of /bulk too, whose records are as those of the operation on one
		for _, e := range op.RequestBody.Value.Content["application/json"].Examples {
			text, _ := json.Marshal(e.Value.Value)
			r := base
			r.body = string(text)
			all = append(all, r)
		}
		if len(all) == 0 {
			return nil
		}
		slices.SortFunc(all, func(a, b exampleRequest) int { return cmp.Compare(len(a.body), len(b.body)) })
	}
	first := all[0]
	for name := range optional {
		query := maps.Clone(required)
		query[name] = optional[name]
		first.path = with(query)
		all = append(all, first)
	}
	if first = all[0]; tag != nil {
		first.headers = tag
		all = append(all, first)
	}
	return all
}

// exampleOf is a parameter's example, as a query has it.
func exampleOf(p *openapi3.Parameter) (text string, is bool) {
	var example any
	if e := p.Examples["example"]; e != nil {
		example = e.Value.Value
	} else if examples := p.Schema.Value.Examples; len(examples) > 0 {
		example = examples[0]
	}
	if list, ok := example.([]any); ok {
		return strings.Trim(strings.Join(strings.Fields(fmt.Sprint(list)), ","), "[]"), true
	}
	return fmt.Sprint(example), example != nil
}

// TestOpenAPIExamples sends every example of the demo's description to a new
// demo.
func TestOpenAPIExamples(t *testing.T) {
	for _, key := range []string{desk.DemoFullKey, desk.DemoOrdersKey} {
		t.Run(key[:8], func(t *testing.T) {
			d := newDemo(t)
			doc := loadDescription(t, d.Call("GET", "/openapi.json?api_key="+key, "", "").Body)
			token := d.Login(key, "demo")
			seen := map[string]bool{}
			for _, r := range exampleRequests(doc) {
				switch r.operation {
				case "getWebhookResult", "downloadResult":
					continue // of a job, which every backup has its own of: below
				case "endWaitForChanges":
					seen[r.operation] = true
					continue // of a request that waits: behind it
				case "waitForChanges":
					now := must.JSON[struct{ Cursor string }](t, d.Call("GET", "/changes", token, "").Body) // which no example can know
					r.body = strings.Replace(r.body, "c1_ZXhhbXBsZQ", now.Cursor, 1)
				}
				a := d.Call(r.method, r.path, token, r.body, r.headers...)
				require.Contains(t, r.success, fmt.Sprint(a.Status), "%s: %s %s %s\n%s", r.operation, r.method, r.path, r.body, a.Body)
				seen[r.operation] = true
				if r.operation == "backupOwner" {
					d.FollowBackup(token, a.Header.Get("Location"))
					seen["getWebhookResult"], seen["downloadResult"] = true, true
				}
			}
			for path, item := range doc.Paths.Map() {
				for method, op := range item.Operations() {
					require.True(t, seen[op.OperationID] || strings.HasSuffix(path, "/bulk"), "%s %s has no example", method, path)
				}
			}
		})
	}
}
