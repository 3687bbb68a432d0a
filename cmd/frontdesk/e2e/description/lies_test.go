package description

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/backend/legacy/legacytest"
	"frontdesk/backend/remote/remotetest"
	"frontdesk/backend/sqlrecord/sqltest"
	"frontdesk/cmd/frontdesk/rig"
	"frontdesk/cmd/frontdesk/rig/must"
)

// TestDescriptionCannotLie draws allowlists, on each driver. Whatever the description of a key
// has works, each operation, parameter and field; and whatever it lacks of the description of
// everything is refused. What a reference is required for is given a record that is there.
func TestDescriptionCannotLie(t *testing.T) {
	lists := 3
	if sqltest.Soak() {
		lists = 50
	}
	for _, driver := range []struct {
		name, username, password string
		options                  func(t *testing.T) rig.Options
	}{
		{"reference", "demo", "demo", func(t *testing.T) rig.Options { return rig.Options{DSN: rig.Engines[0].DSN(t)} }},
		{"legacy", "sanne.bos", "Welkom01", func(t *testing.T) rig.Options { return rig.DealerPak(t, "postgres", legacytest.Postgres(t)) }},
		{"remote", "demo", "demo", func(t *testing.T) rig.Options {
			server := httptest.NewServer(remotetest.NewJSON(remotetest.Options{}))
			t.Cleanup(server.Close)
			return rig.GarageCloud(t, server.URL, remotetest.ClientSecret)
		}},
	} {
		t.Run(driver.name, func(t *testing.T) {
			o := driver.options(t)
			d := rig.Start(t, o)
			grants := granted(t, d, d.LoginAs(rig.FullKey, driver.username, driver.password))
			d.Shutdown()
			random := rand.New(rand.NewPCG(20+sqltest.Seed(t), uint64(len(grants))))
			for i := range lists {
				random.Shuffle(len(grants), func(a, b int) { grants[a], grants[b] = grants[b], grants[a] })
				drawn := grants[:8]
				if i == 0 { // what is about records that the key itself may not read
					drawn = slices.DeleteFunc([]string{`"GET /contact/checkaddress"`, `"GET /changes"`, `"GET /changes/digest"`}, func(g string) bool { return !slices.Contains(grants, g) })
				}
				o.Keys += rig.KeyConfig(fmt.Sprintf("drawn%d", i), rig.ArrayKey(i), "    allow: ["+strings.Join(drawn, ", ")+"]\n")
			}
			d = rig.Start(t, o)
			whole, all := descriptionOf(t, d, rig.FullKey), d.LoginAs(rig.FullKey, driver.username, driver.password)
			for i := range lists {
				l := liar{T: t, d: d, own: descriptionOf(t, d, rig.ArrayKey(i)), whole: whole, draw: newDraw(t, whole), token: d.LoginAs(rig.ArrayKey(i), driver.username, driver.password), all: all}
				l.judge()
			}
		})
	}
}

// granted are the entries of allowlists that there are.
func granted(t *testing.T, d *rig.Desk, token string) (all []string) {
	var access struct {
		Data struct {
			Endpoints []struct{ Method, Path string }
		}
	}
	require.NoError(t, json.Unmarshal(d.Call("GET", "/authenticate/acces", token, "").Body, &access))
	for _, e := range access.Data.Endpoints {
		if entry := fmt.Sprintf("%q", e.Method+" "+e.Path); !strings.HasPrefix(e.Path, "/authenticate") && !slices.Contains(all, entry) {
			all = append(all, entry)
		}
	}
	slices.Sort(all)
	return all
}

func descriptionOf(t *testing.T, d *rig.Desk, key string) *openapi3.T {
	doc := must.Have(openapi3.NewLoader().LoadFromData(must.Have(d.Try("GET", "/openapi.json?api_key="+key, "", ""))(t).Body))(t)
	return doc
}

// liar looks for what is described and does not work, or works and is not described.
type liar struct {
	*testing.T
	d          *rig.Desk
	own, whole *openapi3.T
	draw       *drawing
	token, all string // of the key that is judged, and of the one that may do everything
}

// ask sends a request and returns its status and its reasons, each with the field that is meant.
func (l liar) ask(method, path, body string) (status int, reasons map[string]string) {
	a := l.d.Call(method, path, l.token, body)
	reasons = map[string]string{}
	if a.Status >= 400 {
		e := a.Failure(l)
		reasons[e.Reason] = e.Field
		for _, v := range e.Errors {
			reasons[v.Field] = v.Reason
		}
		reasons[e.Field] = e.Reason
	}
	return a.Status, reasons
}

func (l liar) judge() {
	paths := l.whole.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		for method, op := range paths[path].Operations() {
			own := l.own.Paths.Value(path)
			switch {
			case slices.Contains(apart, op.OperationID):
			case own == nil || own.GetOperation(method) == nil:
				_, reasons := l.ask(method, l.address(path, op), map[bool]string{true: "{}"}[op.RequestBody != nil])
				_, unknown := reasons["endpoint_unknown"]
				_, unsupported := reasons["method_unsupported"]
				record := false
				if of := l.own.Paths.Value(strings.TrimSuffix(path, "bulk") + "{id}"); of != nil && of.GetOperation(method) != nil {
					_, record = reasons["primary_id_invalid"] // bulk is read as the id of a record
				}
				nothing := path == "/changes/digest" && reasons["resource"] == "custom_validation_failed" // the key may read none
				assert.True(l, unknown || unsupported || record || nothing, "%s %s is not described, and is answered %v", method, path, reasons)
			case method == "GET":
				l.read(path, own.GetOperation(method))
			case op.RequestBody != nil && !strings.HasSuffix(path, "/bulk"):
				l.write(method, path, own.GetOperation(method))
			}
		}
	}
}

// address is that of an operation with what it requires.
func (l liar) address(path string, op *openapi3.Operation, more ...string) string {
	path = strings.NewReplacer("{id}", "1", "{name}", "order").Replace(path)
	query := more
	if op != nil {
		for _, p := range op.Parameters {
			if p.Value.In == "query" && p.Value.Required {
				value := l.draw.value(p.Value)
				if e := p.Value.Examples["example"]; e != nil {
					value = url.QueryEscape(fmt.Sprint(e.Value.Value))
				} else if of, ok := p.Value.Schema.Value.Extensions["x-references"].(string); ok {
					value = l.first(of)
				}
				query = append(query, p.Value.Name+"="+value)
			}
		}
	}
	if len(query) == 0 {
		return path
	}
	return path + "?" + strings.Join(query, "&")
}

// first is the id of a record of a resource.
func (l liar) first(resource string) string {
	var page struct{ Data []struct{ ID int } }
	a := l.d.Call("GET", "/"+resource+"?page_size=1&fields=id", l.all, "")
	require.NoError(l, json.Unmarshal(a.Body, &page))
	require.NotEmpty(l, page.Data, "%s: %s", resource, a.Body)
	return strconv.Itoa(page.Data[0].ID)
}

// wrong are the reasons that say that something is not there at all.
var wrong = []string{"endpoint_unknown", "method_unsupported", "query_parameter_unsupported", "after_combined", "field_not_in_model", "int4_invalid", "timestamp_invalid", "float8_invalid", "custom_validation_failed", "internal_error"}

func (l liar) works(what, address string) {
	status, reasons := l.ask("GET", address, "")
	for _, reason := range wrong {
		assert.NotContains(l, reasons, reason, "%s is described: GET %s is answered %d", what, address, status)
	}
}

// listed finds the names in the pattern of a text that lists some.
var listed = regexp.MustCompile(`^\^(?:-\?)?\(([^)]*)\)`)

// read asks an operation with each of its parameters, beside what others are by default, which
// generated clients send; and with those of everything that it has not.
func (l liar) read(path string, own *openapi3.Operation) {
	known := map[string]bool{"id": true, "webhook_url": true}
	for _, p := range own.Parameters {
		p := p.Value
		known[p.Name] = true
		if p.In != "query" || p.Required {
			continue
		}
		if names := listed.FindStringSubmatch(p.Schema.Value.Pattern); names != nil && (p.Name == "fields" || p.Name == "sort") {
			l.works(p.Name, l.address(path, own, p.Name+"="+strings.ReplaceAll(names[1], "|", ",")))
			continue
		}
		asked := []string{strings.ReplaceAll(strings.ReplaceAll(p.Name, "[", "%5B"), "]", "%5D") + "=" + l.draw.value(p)}
		for _, other := range own.Parameters {
			if by := other.Value.Schema.Value.Default; by != nil && other.Value.Name != p.Name {
				asked = append(asked, fmt.Sprintf("%s=%v", other.Value.Name, by))
			}
		}
		l.works(p.Name, l.address(path, own, asked...))
	}
	has := fieldsOf(own)
	for _, field := range append(l.fieldsOf(path), "colour") { // with the arrays of every key
		if known["fields"] && !slices.Contains(has, field) {
			_, reasons := l.ask("GET", l.address(path, own, "fields=id,"+field), "")
			assert.Contains(l, reasons, "field_not_in_model", "%s of GET %s is not described", field, path)
		}
	}
	for _, name := range []string{"colour", "organization_name", "order_status[gte]", "license_plate[contains]", "limit"} {
		if !known[name] {
			_, reasons := l.ask("GET", l.address(path, own, strings.NewReplacer("[", "%5B", "]", "%5D").Replace(name)+"=x"), "")
			assert.Contains(l, reasons, "query_parameter_unsupported", "%s of GET %s is not described", name, path)
		}
	}
}

// fieldsOf are the names that the parameter fields takes.
func fieldsOf(op *openapi3.Operation) []string {
	p := op.Parameters.GetByInAndName("query", "fields")
	if p == nil {
		return nil
	}
	return strings.Split(listed.FindStringSubmatch(p.Schema.Value.Pattern)[1], "|")
}

// fieldsOf are the fields of the resource of a path, as records are described to have them.
func (l liar) fieldsOf(path string) []string {
	name := strings.TrimPrefix(strings.TrimSuffix(path, "/{id}"), "/")
	model := l.whole.Components.Schemas[strings.ToUpper(name[:1])+name[1:]]
	if model == nil {
		return nil // no resource
	}
	return slices.Sorted(maps.Keys(model.Value.Properties))
}

// write sends a body with each field that the resource has, of a type that no field has: what
// is described is refused for that, and what is not described for being there.
func (l liar) write(method, path string, own *openapi3.Operation) {
	sent := own.RequestBody.Value.Content["application/json"].Schema.Value
	body := map[string]any{}
	for _, field := range l.fieldsOf(path) {
		body[field] = map[string]any{}
	}
	if len(body) == 0 {
		return
	}
	text, err := json.Marshal(body)
	require.NoError(l, err)
	_, reasons := l.ask(method, l.address(path, nil), string(text))
	for field := range body {
		there := slices.Contains([]string{"field_not_in_model", "field_readonly", "primary_id_supplied", "primary_id_invalid"}, reasons[field])
		if _, described := sent.Properties[field]; described {
			assert.False(l, there, "%s %s: %s is described, and is refused: %s", method, path, field, reasons[field])
		} else if method == "POST" {
			assert.True(l, there, "%s %s: %s is not described, and is answered %q", method, path, field, reasons[field])
		}
	}
}
