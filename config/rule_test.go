package config_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

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
	for _, rule := range []string{"GET /order", "* /vehicle", "GET /model/*", "* /*", "GET /", "get /order", "GET //", "PUT /a/../b", "GET *"} {
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
		if rule.String() != text {
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
		return []config.Endpoint{{"GET", "/part"}, {"PUT", "/part"}, {"GET", "/port"}, {"GET", "/port/stock"}, {"GET", "/partner"}, {"GET", "/util/time"}}, nil
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
