package sheet_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

// TestLoadServices loads the sheets that the driver is tested with.
func TestLoadServices(t *testing.T) {
	files, err := filepath.Glob("../../backend/remote/testdata/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	o := options
	o.Env = func(name string) (string, bool) {
		return cmp.Or(map[string]string{"FOREIGN_PASSWORD_HASH": "$argon2id$x"}[name], "https://dms.example.nl"), true
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".exceptions.yaml") { // of the conformance suite
			continue
		}
		s, err := sheet.Load(file, model(t), o)
		require.NoError(t, err)
		require.NotNil(t, s.Source.Service)
	}
}

func TestTranslateAnswers(t *testing.T) {
	s := load(t, "testdata/service.yaml")
	told := func(resource string, status int, code string) string {
		body := map[string]any{"code": code, "fields": []any{"Nr", "x"}}
		e := s.Source.Service.Errors.Translate(sheet.Answer{Context: t.Context(), Status: status, Input: func() map[string]any {
			return map[string]any{"status": status, "body": body}
		}}, sheet.Attempt{Resource: s.Resource(resource), Op: mapping.OpDelete, ID: 3})
		if e == nil {
			return ""
		}
		return string(e.Reason) + " " + strings.Join(e.Args, " ")
	}
	assert.Equal(t, "duplicate_value number ", told("contact", 409, "dup"))
	assert.Empty(t, told("order", 409, "dup"), "it is of contact")
	assert.Empty(t, told("contact", 400, "dup"))
	assert.Equal(t, "in_use id order", told("article", 500, "used"), "whatever the status")
}

// TestJQBesideAPath: null at a path is null, and what is absent is absent, whatever jq makes of it.
func TestJQBesideAPath(t *testing.T) {
	s := parse(t, `
format: 2
source: {http: {url: "https://dms.example.nl", jq: "def cents: . * 100;"}}
rules: backend
accounts: {users: []}
resources:
  article:
    path: /a
    key: id
    operations: {only: [get, list, update]}
    fields:
      number: nr
      price:
        path: money.price
        read: ".money.price / 100 # of cents"
        write: "cents # so that they are whole"
`)
	article := s.Resource("article")
	price := article.Service.Fields[article.Field("price").Index]
	for in, want := range map[string]string{`{"money": {"price": 150}}`: "1.5", `{"money": {"price": null}}`: "null", `{"money": {}}`: "absent", `{}`: "absent", `{"money": 3}`: "absent"} {
		record, err := sheet.ParseJSON(in)
		require.NoError(t, err)
		v, there, err := price.Read.Of(t.Context(), record)
		require.NoError(t, err)
		got := "absent"
		if there {
			text, err := json.Marshal(v)
			require.NoError(t, err)
			got = string(text)
		}
		assert.Equal(t, want, got, in)
	}
	written, err := price.Write.First(t.Context(), 1.5)
	require.NoError(t, err)
	assert.Equal(t, "150", fmt.Sprint(written))
	written, err = price.Write.First(t.Context(), nil)
	require.NoError(t, err)
	assert.Nil(t, written)
	_, err = price.Read.JQ.First(t.Context(), map[string]any{"money": map[string]any{"price": "x"}})
	assert.ErrorContains(t, err, "jq .money.price / 100 # of cents: ")
}
