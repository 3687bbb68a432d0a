package description

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

const drawnAllowlists = 50

// arrayOracle says of an array field what an allowlist alone decides.
type arrayOracle struct {
	resource, child, field string
	body                   string // of a record with an element, but for its closing brace
}

var arrayOracles = []arrayOracle{
	{"order", "orderline", "orderlines", rig.OrderWithLine},
	{"flatrate", "flatrateline", "flatratelines", ""},
}

func (o arrayOracle) with(rules []string, method, resource string) bool {
	return rig.AllowedBy(rules, method, "/"+resource)
}

func (o arrayOracle) seen(rules []string) bool { return o.with(rules, "GET", o.child) }
func (o arrayOracle) sent(rules []string) bool { return o.with(rules, "POST", o.child) }

// drawAllowlist is one around arrays: whole, in part, or by accident.
func drawAllowlist(random *rand.Rand) (rules []string) {
	rules = []string{"GET /model/*"}
	for _, resource := range []string{"order", "orderline", "flatrate", "flatrateline", "vehicle"} {
		for _, method := range []string{"GET", "POST", "PUT", "*"} {
			if chance := random.IntN(10); chance < 5 && (method != "*" || chance == 0) {
				rules = append(rules, method+" /"+resource)
			}
		}
	}
	if random.IntN(25) == 0 {
		rules = append(rules, "GET /*")
	}
	return rules
}

// TestArraysAgreeWithAnOracle logs in fifty times, each by a hash that is meant to be
// slow: it holds model, description, answers and bodies to what the allowlist alone
// says, over drawn allowlists.
func TestArraysAgreeWithAnOracle(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	var drawn [][]string
	var lists []string
	for range drawnAllowlists {
		rules := drawAllowlist(random)
		drawn = append(drawn, rules)
		lists = append(lists, `"`+strings.Join(rules, `","`)+`"`)
	}
	d, tokens := withAllowlists(t, rig.Options{}, lists...)
	full := d.Login(rig.FullKey, "demo")
	ids := map[string]int{"order": d.Create(full, "order", rig.OrderWithLine), "flatrate": d.Create(full, "flatrate", fmt.Sprintf(rig.FlatrateWithLine, "FULL"))}
	outcomes := map[string]int{}
	for i, rules := range drawn {
		doc := descriptionOf(t, d, rig.ArrayKey(i))
		for _, o := range arrayOracles {
			if o.body == "" {
				o.body = fmt.Sprintf(rig.FlatrateWithLine, fmt.Sprintf("D%d", i))
			}
			what := fmt.Sprintf("%s with %v", o.field, rules)
			fields := d.FieldsOf(tokens[i], o.resource)
			readonly, there := fields[o.field]
			require.Equal(t, o.seen(rules) || o.sent(rules), there, what)
			require.Equal(t, there && !o.sent(rules), readonly, what)
			o.described(t, doc, rules, what)
			outcomes[o.answers(d, tokens[i], ids[o.resource], rules, what)]++
		}
	}
	require.Greater(t, len(outcomes), 12, "%v", outcomes)
}

// answers holds answers and bodies to the oracle, and tells how they went.
func (o arrayOracle) answers(d *rig.Desk, token string, id int, rules []string, what string) string {
	none := fmt.Sprintf("Field: %s not found in model", o.field)
	at := fmt.Sprintf("/%s/%d", o.resource, id)
	var outcome []int
	held := func(method, path, body string, granted bool, status int, refusal string) {
		if !o.with(rules, method, o.resource) {
			outcome = append(outcome, 0)
			return
		}
		a := d.Call(method, path, token, body)
		if !granted {
			status, refusal = 403, none
		}
		require.Equal(d.T, status, a.Status, "%s %s %s: %s", method, path, what, a.Body)
		if status >= 400 {
			require.Equal(d.T, refusal, a.Failure(d.T).Message, what)
		}
		require.Equal(d.T, method == "GET" && granted, strings.Contains(string(a.Body), `"`+o.field+`":[`), "%s: %s", what, a.Body)
		outcome = append(outcome, status)
	}
	held("GET", at+"?fields="+o.field, "", o.seen(rules), 200, "")
	held("GET", "/"+o.resource+"?page_size=5&fields="+o.field, "", o.seen(rules), 200, "")
	held("POST", "/"+o.resource, o.body, o.sent(rules), 201, "")
	held("PUT", at, fmt.Sprintf(`{%q:[{}]}`, o.field), o.seen(rules) || o.sent(rules), 409, "Cannot update "+o.field)
	if o.with(rules, "GET", o.resource) {
		require.NotContains(d.T, string(d.Call("GET", at, token, "").Body), o.field, what)
	}
	return fmt.Sprint(o.resource, outcome)
}

// described holds a description to the oracle.
func (o arrayOracle) described(t *testing.T, doc *openapi3.T, rules []string, what string) {
	get := doc.Paths.Value("/" + o.resource + "/{id}")
	require.Equal(t, o.with(rules, "GET", o.resource), get != nil && get.Get != nil, what)
	if get != nil && get.Get != nil {
		require.Equal(t, o.seen(rules), slices.Contains(fieldsOf(get.Get), o.field), what)
	}
	if record := doc.Components.Schemas[strings.ToUpper(o.resource[:1])+o.resource[1:]]; record != nil {
		require.Equal(t, o.seen(rules), record.Value.Properties[o.field] != nil, what)
	}
	if o.with(rules, "POST", o.resource) {
		sent := doc.Paths.Value("/" + o.resource).Post.RequestBody.Value.Content["application/json"]
		require.Equal(t, o.sent(rules), sent.Schema.Value.Properties[o.field] != nil, what)
		require.Equal(t, o.sent(rules), sent.Examples["with_"+o.field] != nil, what)
	}
	if !o.seen(rules) && !o.sent(rules) {
		require.NotContains(t, string(must.Have(json.Marshal(doc))(t)), o.field, what)
	}
}
