package config_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/config"
)

// TestEditAllow edits allowlists as people write them, and changes nothing but the entries.
func TestEditAllow(t *testing.T) {
	hash := `key_sha256: ["` + firstHash + `"]`
	for name, c := range map[string]struct{ text, drop, add, want string }{
		"lines": {
			"api_keys:\n  - name: a # é\n    " + hash + "\n    allow: # what it may\n      # reads\n      - GET /order   # each morning\n      - \"* /vehicle\"\n    concurrent: 3 # at once\n# the end",
			"GET /order", "PUT /contact,GET /contact",
			"api_keys:\n  - name: a # é\n    " + hash + "\n    allow: # what it may\n      # reads\n      - \"* /vehicle\"\n      - \"PUT /contact\"\n      - \"GET /contact\"\n    concurrent: 3 # at once\n# the end",
		},
		"all but a new one":     {"api_keys:\n- " + hash + "\n  name: a\n  allow:\n  - 'GET /order'\n  -   'GET /vehicle'", "GET /order,GET /vehicle", "GET /contact", "api_keys:\n- " + hash + "\n  name: a\n  allow:\n  -   \"GET /contact\"\n"},
		"none left":             {"api_keys:\n- name: a\n  allow: # all\n  - GET /order\n  " + hash + "\n", "GET /order", "", "api_keys:\n- name: a\n  allow: [] # all\n  " + hash + "\n"},
		"no end of the line":    {"api_keys:\n- name: a\n  " + hash + "\n  allow:\n  - GET /order", "", "GET /vehicle", "api_keys:\n- name: a\n  " + hash + "\n  allow:\n  - GET /order\n  - \"GET /vehicle\"\n"},
		"lines of another kind": {"api_keys:\r\n- name: a\r\n  " + hash + "\r\n  allow:\r\n  - GET /order\r\n", "", "GET /vehicle", "api_keys:\r\n- name: a\r\n  " + hash + "\r\n  allow:\r\n  - GET /order\r\n  - \"GET /vehicle\"\r\n"},
		"brackets":              {"api_keys: [{name: a, " + hash + ", allow: [ GET /order, 'GET /vehicle' , \"GET /contact\" ]}] # é", "GET /vehicle", "PUT /order", "api_keys: [{name: a, " + hash + ", allow: [ GET /order, \"GET /contact\", \"PUT /order\" ]}] # é"},
		"brackets, the last":    {"api_keys:\n- name: a\n  " + hash + "\n  allow: [GET /order,\n    GET /vehicle,\n    GET /contact]\n", "GET /vehicle,GET /contact", "", "api_keys:\n- name: a\n  " + hash + "\n  allow: [GET /order]\n"},
		"brackets, all":         {"api_keys:\n- name: a\n  " + hash + "\n  allow: [GET /order] # one\n", "GET /order", "GET /vehicle,PUT /order", "api_keys:\n- name: a\n  " + hash + "\n  allow: [\"GET /vehicle\", \"PUT /order\"] # one\n"},
		"brackets, empty":       {"api_keys:\n- name: a\n  " + hash + "\n  allow: []\n", "", "GET /vehicle", "api_keys:\n- name: a\n  " + hash + "\n  allow: [\"GET /vehicle\"]\n"},
		"none yet":              {"api_keys:\n- name: a # the shop\n  " + hash + "\n", "", "GET /vehicle", "api_keys:\n- name: a # the shop\n  allow:\n    - \"GET /vehicle\"\n  " + hash + "\n"},
		"the second of a file":  {"api_keys:\n- name: b\n  key_sha256: [" + secondHash + "]\n  allow: [GET /order]\n- name: a\n  " + hash + "\n  allow: [GET /order]\n", "GET /order", "", "api_keys:\n- name: b\n  key_sha256: [" + secondHash + "]\n  allow: [GET /order]\n- name: a\n  " + hash + "\n  allow: []\n"},
	} {
		got, err := editAllow(t, c.text, c.drop, c.add)
		require.NoError(t, err, name)
		require.Equal(t, c.want, got, name)
		if name == "no end of the line" || name == "lines of another kind" {
			continue
		}
		crlf := strings.NewReplacer("\r\n", "\r\n", "\n", "\r\n")
		got, err = editAllow(t, crlf.Replace(c.text), c.drop, c.add)
		require.NoError(t, err, "%s, in lines of another kind", name)
		require.Equal(t, crlf.Replace(c.want), got, "%s, in lines of another kind", name)
	}
}

// TestEditAllowByHand: what cannot be edited without losing or misreading something.
func TestEditAllowByHand(t *testing.T) {
	hash := "  key_sha256: [\"" + firstHash + "\"]\n"
	for text, want := range map[string]string{
		"api_keys:\n- name: a\n" + hash + "  allow: [GET /order, # why\n    GET /vehicle]\n":                                       "a comment between its entries would be lost",
		"api_keys:\n- name: a\n" + hash + "  allow: [&o GET /order, GET /vehicle]\n":                                               "an entry in line 4 is no plain text",
		"api_keys:\n- name: a\n" + hash + "  allow:\n  - \"GET /\\x6frder\"\n":                                                     "the entry in line 5 is written in an unusual way",
		"api_keys:\n- name: a\n" + hash + "  allow:\n  - ${ENTRY}\n  - GET\n    /order\n":                                          "the entry in line 6 is written in an unusual way",
		"api_keys:\n- {name: a, key_sha256: [\"" + firstHash + "\"]}\n":                                                            "its allowlist is not written as a list of its own",
		"api_keys:\n- name: b\n  key_sha256: [" + secondHash + "]\n  allow: &x [GET /order]\n- name: a\n" + hash + "  allow: *x\n": "its allowlist is not written as a list of its own",
	} {
		_, err := editAllow(t, text, "GET /order", "")
		require.EqualError(t, err, want, text)
	}
}

// editAllow edits the allowlist of key a in a text that an empty main file includes.
func editAllow(t *testing.T, text, drop, add string) (string, error) {
	t.Helper()
	t.Setenv("ENTRY", "GET /vehicle")
	main, file := filepath.Join(t.TempDir(), "frontdesk.yaml"), "key.yaml"
	require.NoError(t, os.WriteFile(main, []byte("include: [key.yaml]\nbackend: {dsn: \"sqlite:x.db\"}\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(main), file), []byte(text), 0o600))
	c, err := config.NewLoader(main, config.Known{Endpoints: func(*config.Config) ([]config.Endpoint, error) { return nil, nil }}).Load()
	require.NoError(t, err, text)
	rules := func(list string) (rules []config.Rule) {
		for _, entry := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
			rule, err := config.ParseRule(entry)
			require.NoError(t, err)
			rules = append(rules, rule)
		}
		return rules
	}
	i := slices.IndexFunc(c.APIKeys, func(k config.Key) bool { return k.Name == "a" })
	edited, err := c.EditAllow([]byte(text), &c.APIKeys[i], func(r config.Rule) bool { return slices.Contains(rules(drop), r) }, rules(add))
	return string(edited), err
}
