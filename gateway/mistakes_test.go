package gateway

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestMistakesAreCured sends what integrators get wrong (testdata/mistakes.yaml), and looks for
// what cures it: in the answer alone, which is its body and the titles of its links.
func TestMistakesAreCured(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t)
	demo := h.as("demo")
	const order = `"contact_id":1,"kind":"workshop","order_status":"open","order_date":"2026-07-01"`
	text, err := os.ReadFile("testdata/mistakes.yaml")
	require.NoError(t, err)
	var mistakes []struct {
		What, Send, Body, Cure string
		Headers                []string
	}
	require.NoError(t, yaml.Unmarshal(text, &mistakes))
	require.Greater(t, len(mistakes), 60)
	placeholders := strings.NewReplacer("<order>", order, "<key>", keyAll, "<501 records>", recordsOf(strings.Repeat("{},", 500)+"{}"))
	for _, m := range mistakes {
		who := demo
		if len(m.Headers) > 0 && m.Headers[0] == "token" {
			who, m.Headers = visitor{h.fixture, placeholders.Replace(m.Headers[1])}, m.Headers[2:]
		}
		method, target, _ := strings.Cut(m.Send, " ")
		a := who.ask(method, target, placeholders.Replace(m.Body), m.Headers...)
		require.GreaterOrEqual(t, a.status, 400, "%s: %s", m.What, a.body)
		told := strings.ReplaceAll(a.head("Link"), `\"`, `"`)
		assert.Contains(t, a.body+told, m.Cure, m.What)
	}
}

// TestHelpIsLinked tells of several errors what to do about the first of each reason, in a
// header that a program can read.
func TestHelpIsLinked(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, e := range h.catalogue.Entries() {
		require.Regexp(t, `^[ -~]+$`, e.Cure, e.Reason)
	}
	demo := h.as("demo")
	a := demo.ask("POST", "/order", `{"colour":"red","size":1,"order_date":"soon","kind":"repair"}`)
	var linked []string
	for _, link := range regexp.MustCompile(`errors#(\w+)>`).FindAllStringSubmatch(a.head("Link"), -1) {
		linked = append(linked, link[1])
	}
	require.Equal(t, []string{"field_not_in_model", "field_required", "timestamp_invalid"}, linked)
	require.Contains(t, a.head("Link"), `<https://api.example.nl/webservice_v2/errors#timestamp_invalid>; rel="help"; title="Send 2026-07-01T10:00:00Z`)
	require.Less(t, len(a.head("Link")), 3<<10)
	require.Empty(t, demo.ask("GET", "/order/1", "").head("Link"))
}
