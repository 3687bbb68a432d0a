package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/config"
	"frontdesk/config/schema/schematest"
)

// TestEveryRuleIsTried: each rule has a file that breaks it. Those of any file are tried where they
// are, and what only a machine or a gateway can tell is tried with check.
func TestEveryRuleIsTried(t *testing.T) {
	rules := map[string]bool{}
	tried := map[string]bool{}
	for _, file := range []string{"rules.go", "config.go", "key.go", "strictyaml/rules.go"} {
		text := must.Have(os.ReadFile(file))(t)
		for _, m := range regexp.MustCompile(`(?:ule[A-Za-z0-9]+ += "| \[)([a-z0-9-]+)(?:"|\][:;"])`).FindAllStringSubmatch(string(text), -1) {
			rules[m[1]] = true
			if strings.HasPrefix(file, "strictyaml/") {
				tried[m[1]] = true
			}
		}
	}
	files, err := filepath.Glob("testdata/*.bad.txt")
	ofCheck, wrong := filepath.Glob("../cmd/frontdesk/testdata/check/*.bad.txt")
	require.NoError(t, errors.Join(err, wrong))
	for _, file := range append(files, ofCheck...) {
		text := must.Have(os.ReadFile(file))(t)
		for line := range strings.Lines(string(text)) {
			m := regexp.MustCompile(` \[([a-z0-9-]+)\]\n$`).FindStringSubmatch(line)
			if m == nil {
				t.Errorf("%s: no rule in %q", file, line)
				continue
			}
			tried[m[1]] = true
		}
	}
	assert.Empty(t, cmp.Diff(rules, tried), "rules (-there +tried)")
}

// TestDocumentedConfiguration is right, and what it says of defaults is so.
func TestDocumentedConfiguration(t *testing.T) {
	doc := must.Have(os.ReadFile("../docs/configuration.md"))(t)
	_, example, _ := strings.Cut(string(doc), "```yaml\n")
	example, _, _ = strings.Cut(example, "```")
	withSecret := known
	withSecret.Env = func(string) (string, bool) { return "hush", true }
	c := must.Have(config.Parse("example.yaml", []byte(example), withSecret))(t)
	assert.Len(t, c.APIKeys, 1)
	defaults := config.Default()
	c.APIKeys, c.Include = nil, nil
	assert.Empty(t, cmp.Diff(defaults, c, comparable, cmpopts.EquateEmpty()), "the example differs from the defaults (-default +example)")
}

func TestRuleMatches(t *testing.T) {
	for text, of := range map[string]struct{ matched, others []string }{
		"GET /order":   {[]string{"GET /order"}, []string{"POST /order", "get /order", "GET /Order", "GET /orderline", "GET /order/", "GET "}},
		"* /vehicle":   {[]string{"DELETE /vehicle"}, []string{"PUT /vehicle/publishstart"}},
		"* /vehicle/*": {[]string{"PUT /vehicle/publishstart"}, []string{"PUT /vehicle", "PUT /vehicle/", "PUT /vehiclerole/x"}},
		"GET /model/*": {[]string{"GET /model/*", "GET /model/order"}, []string{"GET /model"}},
		"GET /*":       {[]string{"GET /", "GET /order", "GET /vehicle/publishstart"}, []string{"PUT /order"}},
		"* /*":         {[]string{"PUT /order"}, []string{"PUT order"}},
		"GET /":        {[]string{"GET /"}, []string{"GET /order"}},
	} {
		rule, err := config.ParseRule(text)
		require.NoError(t, err, text)
		for _, asked := range append(of.matched, of.others...) {
			method, path, _ := strings.Cut(asked, " ")
			assert.Equal(t, slices.Contains(of.matched, asked), rule.Matches(method, path), "%s matches %s", text, asked)
		}
	}
	assert.False(t, config.Rule{}.Matches("", ""), "the zero rule matches nothing")
}

// FuzzRule holds every rule that parses to what an allowlist promises: it reads
// back as it was written, and it covers nothing its text does not name.
func FuzzRule(f *testing.F) {
	for _, rule := range []string{"GET /order", "* /vehicle", "GET /model/*", "* /*", "GET /", "get /order", "GET //", "PUT /a/../b", "GET *", "GET /order: {without: [note,id]}", "* /order: {only: [id]}"} {
		f.Add(rule, "GET", "/order")
		f.Add(rule, "PUT", "/vehicle/publishstart")
	}
	f.Fuzz(func(t *testing.T, text, method, path string) {
		rule, err := config.ParseRule(text)
		if err != nil {
			if rule.Matches(method, path) {
				t.Errorf("%q is no rule and matches %q %q", text, method, path)
			}
			return
		}
		if again, err := config.ParseRule(rule.String()); rule.TakesFields() && (err != nil || again != rule) || !rule.TakesFields() && rule.String() != text {
			t.Errorf("%q reads back as %q", text, rule)
		}
		if strings.ContainsAny(text, "%;\\\x00?#") || strings.Contains(text, "..") && strings.Contains(text, "/../") {
			t.Errorf("%q is not canonical", text)
		}
		prefix, all := strings.CutSuffix(rule.Path, "*")
		named := (rule.Method == "*" || rule.Method == method) && (rule.Path == path || all && strings.HasPrefix(path, prefix))
		if rule.Matches(method, path) && !named {
			t.Errorf("%q matches %q %q", text, method, path)
		}
		if !all && rule.Matches(method, path+"/x") && rule.Path != path+"/x" {
			t.Errorf("%q matches below itself", text)
		}
	})
}

// TestSuggestionsOfRules: where two resources are alike, none is suggested in place of the other.
func TestSuggestionsOfRules(t *testing.T) {
	alike := known
	alike.Endpoints = func(*config.Config) ([]config.Endpoint, error) {
		return []config.Endpoint{{Method: "GET", Path: "/part"}, {Method: "PUT", Path: "/part"}, {Method: "GET", Path: "/port"}, {Method: "GET", Path: "/port/stock"}, {Method: "GET", Path: "/partner"}, {Method: "GET", Path: "/util/time"}}, nil
	}
	tests := []struct{ rule, suggested string }{
		{"GET /prt", ""},             // as near to /part as to /port
		{"GET /part/stock", ""},      // as near to /port/stock as can be, which is another resource
		{"GET /part/7", "GET /part"}, // and /partner begins with /part
		{"GET /partn", "GET /part"},
		{"GET /partne", "GET /partner"},
		{"* /Part/{id}", "* /part"},
		{"POST /part/7", ""}, // nothing is posted here
		{"PUT /prt", "PUT /part"},
		{"GET /port/{id}/stock", "GET /port/stock"},
		{"GET /7", ""},
		{"GET /utl/*", "GET /util/*"},
		{"GET /webservice_v2/port/stock", "GET /port/stock"},
	}
	for _, tt := range tests {
		_, err := config.Parse("a.yaml", fmt.Appendf(nil, "api_keys: [{name: a, key_sha256: [%064x], allow: [%q]}]", 1, tt.rule), alike)
		_, suggested, found := strings.Cut(fmt.Sprint(err), "did you mean ")
		suggested, _, _ = strings.Cut(suggested, "?")
		assert.Equal(t, tt.suggested != "", found, tt.rule)
		assert.Equal(t, tt.suggested, suggested, "%q: %v", tt.rule, err)
	}
}

func TestSchemaFileIsUpToDate(t *testing.T) {
	schematest.UpToDate(t, "../docs/config.schema.json", config.Schema(), *update)
}

func TestConfigurationsFitTheSchema(t *testing.T) {
	s := schematest.Compile(t, config.SchemaID, config.Schema())
	files := must.Have(filepath.Glob("testdata/*.yaml"))(t)
	fit := 0
	for _, file := range files {
		if strings.HasSuffix(file, ".bad.yaml") {
			continue
		}
		fit++
		assert.NoError(t, s.Validate(schematest.Instance(t, file)), file)
	}
	assert.NotZero(t, fit)
}

func TestBadConfigurationsDoNotFitTheSchema(t *testing.T) {
	s := schematest.Compile(t, config.SchemaID, config.Schema())
	for _, name := range []string{
		"allow_method", "allow_list", "allow_fields_form", "backend_bounds", "key_certificates", "key_hash_missing", "key_limits", "key_name_missing", "log_level", "mistyped", "ops_hosts", "rate", "rate_missing",
		"server_base_path", "server_base_path_dots", "server_base_path_end", "server_base_path_root", "server_vendor", "tracing", "webhooks_allow_hosts", "webhooks_ports",
	} {
		assert.Error(t, s.Validate(schematest.Instance(t, "testdata/"+name+".bad.yaml")), name)
	}
}

func TestBaseURL(t *testing.T) {
	tests := []struct {
		server config.Server
		want   string
	}{
		{config.Server{Listen: "127.0.0.1:8080", BasePath: "/v2"}, "http://127.0.0.1:8080/v2"},
		{config.Server{Listen: ":8080", BasePath: "/v2"}, "http://localhost:8080/v2"},
		{config.Server{Listen: "0.0.0.0:8080", BasePath: "/v2"}, "http://localhost:8080/v2"},
		{config.Server{Listen: "[::]:8080", BasePath: "/v2"}, "http://localhost:8080/v2"},
		{config.Server{Listen: "[::1]:8080", BasePath: "/v2"}, "http://[::1]:8080/v2"},
		{config.Server{Listen: "desk:443", BasePath: "/v2", TLS: config.TLS{CertFile: "c", KeyFile: "k"}}, "https://desk:443/v2"},
		{config.Server{Listen: "desk:443", BasePath: "/v2", PublicURL: "https://api.example.nl/x/"}, "https://api.example.nl/x"},
	}
	for _, tt := range tests {
		assert.Equal(t, tt.want, tt.server.BaseURL())
	}
}

func TestSecretIsNotSeen(t *testing.T) {
	backend := config.Backend{DSN: "hush"}
	encoded := must.Have(json.Marshal(backend))(t)
	seen := string(encoded) + fmt.Sprint(backend.DSN) + backend.DSN.String()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		seen += fmt.Sprintf(verb, backend) + fmt.Sprintf(verb, []config.Secret{"hush"})
	}
	assert.NotRegexp(t, "hush|68757368", seen)
}

func TestSize(t *testing.T) {
	for text, want := range map[string]config.Size{
		"0": 0, "1": 1, "512B": 512, "1KiB": 1024, "16MiB": 16 << 20, "2GiB": 2 << 30, "9223372036854775807": 1<<63 - 1,
	} {
		var got config.Size
		require.NoError(t, got.UnmarshalText([]byte(text)), text)
		assert.Equal(t, want, got, text)
	}
	for _, text := range []string{"", "-1", "01", "1.5MiB", "1 MiB", "1mib", "1MB", "9223372036854775808", "8589934592GiB"} {
		var got config.Size
		assert.Error(t, got.UnmarshalText([]byte(text)), text)
	}
}

func TestExpiryPassed(t *testing.T) {
	noon := time.Date(2027, 1, 1, 12, 0, 0, 0, time.UTC)
	e := config.Expiry{Time: noon}
	assert.False(t, e.Passed(noon.Add(-time.Nanosecond)) || !e.Passed(noon) || (config.Expiry{}).Passed(noon), "it passes at its moment, and the zero one never")
}

func TestDefaultIsNotShared(t *testing.T) {
	config.Default().Webhooks.Ports[0] = 80
	assert.EqualValues(t, 443, config.Default().Webhooks.Ports[0], "two defaults share nothing")
}
