package gateway

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/gateway/openapi"
)

// description is a decoded one, as a reader of JSON walks it.
type descriptionJSON struct {
	t    *testing.T
	text string
	root map[string]any
}

func readDescription(t *testing.T, text []byte) descriptionJSON {
	t.Helper()
	d := descriptionJSON{t, string(text), nil}
	require.NoError(t, json.Unmarshal(text, &d.root))
	return d
}

func (h *fixture) description(t *testing.T, key string) descriptionJSON {
	t.Helper()
	a := visitor{h: h}.ask("GET", "/openapi.json?api_key="+key, "")
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, "application/json", a.head("Content-Type"))
	return readDescription(t, []byte(a.body))
}

// resolve follows a reference, if v is one.
func (d descriptionJSON) resolve(v any) map[string]any {
	m, ok := v.(map[string]any)
	require.True(d.t, ok, "%v", v)
	ref, is := m["$ref"].(string)
	if !is {
		return m
	}
	at := any(d.root)
	for _, part := range strings.Split(strings.TrimPrefix(ref, "#/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		at = d.resolve(at)[part]
		require.NotNil(d.t, at, ref)
	}
	return d.resolve(at)
}

// at follows names from the root, through references.
func (d descriptionJSON) at(names ...string) map[string]any {
	v := any(d.root)
	for _, name := range names {
		v = d.resolve(v)[name]
		require.NotNil(d.t, v, names)
	}
	return d.resolve(v)
}

// operations are all there are: GET /order/{id}.
func (d descriptionJSON) operations() (all []string) {
	for path, item := range d.at("paths") {
		for method := range item.(map[string]any) {
			all = append(all, strings.ToUpper(method)+" "+path)
		}
	}
	slices.Sort(all)
	return all
}

// each visits everything in a description.
func each(v any, visit func(map[string]any)) {
	switch v := v.(type) {
	case map[string]any:
		visit(v)
		for _, name := range slices.Sorted(maps.Keys(v)) {
			each(v[name], visit)
		}
	case []any:
		for _, one := range v {
			each(one, visit)
		}
	}
}

// TestDescriptionHoldsTogether: every reference leads somewhere, every operation has
// a name of its own, and what a path has in braces is a parameter.
func TestDescriptionHoldsTogether(t *testing.T) {
	t.Parallel()
	h := newLongFixture(t, Grant{"GET", "/order"}, Grant{"POST", "/contact"})
	d := h.description(t, keyAll)
	each(d.root, func(m map[string]any) {
		if _, is := m["$ref"].(string); is {
			require.NotEmpty(t, d.resolve(m))
		}
	})
	names := map[any]bool{}
	for _, op := range d.operations() {
		method, path, _ := strings.Cut(op, " ")
		o := d.at("paths", path, strings.ToLower(method))
		require.False(t, names[o["operationId"]], op)
		names[o["operationId"]] = true
		require.NotEmpty(t, o["summary"], op)
		require.Len(t, o["tags"], 1, op)
		inPath := 0
		parameters, _ := o["parameters"].([]any)
		for _, p := range parameters {
			if p := d.resolve(p); p["in"] == "path" {
				inPath++
				require.Contains(t, path, "{"+p["name"].(string)+"}")
				require.Equal(t, true, p["required"], op)
			}
		}
		require.Equal(t, strings.Count(path, "{"), inPath, op)
	}
	for _, op := range []string{"/backup/owner post", "/order get", "/order/{id} get", "/contact post"} {
		path, method, _ := strings.Cut(op, " ")
		responses := d.at("paths", path, method, "responses")
		require.Contains(t, responses, "202", op)
		require.NotContains(t, responses, "200", op)
		require.NotEmpty(t, d.at("paths", path, method, "callbacks"), op)
	}
	require.Contains(t, d.at("paths", "/contact/{id}", "put", "responses"), "200")
	require.Contains(t, d.at("paths", "/contact", "post", "requestBody", "content", "application/json", "schema")["required"], "webhook_url")
}

// TestDescriptionTellsTheRows of the interface's tables, at their operations.
func TestDescriptionTellsTheRows(t *testing.T) {
	t.Parallel()
	d := newFixture(t).description(t, keyAll)
	messages := strings.ReplaceAll(d.at("components", "schemas", "Reason")["description"].(string), `\`, "")
	for _, row := range []struct{ op, status, message string }{
		{"/order post", "500", "Internal server error"},
		{"/order post", "400", "Empty body"},
		{"/order post", "400", "Body is not valid JSON"},
		{"/order post", "403", "Field: <x> not found in model"},
		{"/order post", "403", "Field: <x> is readonly do not supply in request"},
		{"/order post", "403", "Field: <x> is primary ID do not supply in request"},
		{"/order post", "404", "Field: <x> value: <x> ID not found"},
		{"/order post", "403", "Field: <x> minimum 1 element is required in array"},
		{"/order post", "409", "<x> is <x>, cannot add/update/delete"},
		{"/order/{id} put", "400", "Primary ID is not an valid ID"},
		{"/order/{id} put", "403", "No Primary ID provided"},
		{"/order/{id} put", "409", "This is a blocked record, fields cannot be changed, only update: is_blocked"},
		{"/order/{id} put", "409", "Cannot update <x>"},
		{"/order/{id} put", "412", "Record has been changed"},
		{"/order/{id} get", "403", "Primary ID is invalid"},
		{"/order/{id} get", "404", "Field: <x> value: <x> not found"},
		{"/order/{id} delete", "406", "Field: <x> in use at: <x>"},
		{"/order get", "400", "Parameter invalid page value must be greater than 0"},
		{"/article/{id} put", "409", "Field: <x> Value: <x> has a duplicate illegal value"},
		{"/country/{id} delete", "409", "This is a system-record, record cannot be deleted"},
		{"/vehicle/{id} delete", "403", "Vehicle with id: <x> has publish status: published delete not allowed"},
		{"/vehicle/{id} put", "409", "The change of the licenseplate is not allowed via put, use /updatelicenseplate."},
		{"/vehicle/publishstart get", "403", "Vehicleadvertisementsite is required, vehicle not published"},
		{"/vehicle/publishstart put", "403", "Field: tax_kind value: null is required vehicle not published"},
		{"/vehicleroleline post", "403", "Vehicleroleline is invalid a Vehicle can only have one owner"},
		{"/contactcommunication post", "409", "Field: is_prefered_email value: 1 is not alowed"},
		{"/flatrateline post", "403", "Field: is_manual_input has an invalid value 1"},
		{"/contact/checkaddress get", "403", "Field: <x> valuelength: <x> too long for type <x> (<x>)"},
		{"/empoyee/email get", "406", "Value username missing."},
		{"/document/info get", "403", "No external document found"},
		{"/authenticate get", "400", "Er is geen e-mailadres bekend voor gebruiker: <x>"},
		{"/authenticate/fingerprint get", "401", "Missing authorization"},
		{"/authenticate/forgotpassword post", "401", "Token invalid"},
		{"/model/{name} get", "400", "Body is not valid JSON"},
		{"/authenticate get", "429", "Too many requests"},
	} {
		path, method, _ := strings.Cut(row.op, " ")
		told := slices.ContainsFunc(d.at("paths", path, method, "responses", row.status)["x-reasons"].([]any), func(reason any) bool {
			return strings.Contains(messages, fmt.Sprintf("\n- `%s`: %s", reason, row.message))
		})
		require.True(t, told, "%s %s", row.op, row.message)
	}
}

// TestDescriptionOfARecord: what is sent and what is answered, by the model.
func TestDescriptionOfARecord(t *testing.T) {
	t.Parallel()
	d := newFixture(t).description(t, keyAll)
	create := d.at("paths", "/order", "post", "requestBody", "content", "application/json", "schema")
	require.ElementsMatch(t, []any{"contact_id", "kind", "order_status", "order_date"}, create["required"])
	properties := create["properties"].(map[string]any)
	for _, name := range []string{"id", "number", "total_excl", "created_at"} {
		require.NotContains(t, properties, name, "a new order has none")
	}
	kind := properties["kind"].(map[string]any)
	require.Equal(t, []any{"workshop", "sales", "parts", "lease"}, kind["enum"])
	require.Equal(t, "string", kind["type"])
	require.Equal(t, []any{"integer", "null"}, properties["vehicle_id"].(map[string]any)["type"])
	require.EqualValues(t, 50, properties["reference"].(map[string]any)["maxLength"])
	require.EqualValues(t, 1, properties["orderlines"].(map[string]any)["minItems"])

	update := d.at("paths", "/order/{id}", "put", "requestBody", "content", "application/json", "schema")
	require.Empty(t, update["required"], "fields that are not sent keep their value")

	answer := d.at("paths", "/order/{id}", "get", "responses", "200", "content", "application/json", "schema", "properties", "data")
	for _, name := range []string{"id", "number", "total_excl", "orderlines"} {
		require.Contains(t, answer["properties"], name)
	}
	page := d.at("paths", "/order", "get", "responses", "200", "content", "application/json", "schema")
	for _, name := range []string{"data", "page", "page_size", "next", "total"} {
		require.Contains(t, page["properties"], name)
	}
	headers := map[string][]string{"post": {"Idempotency-Key"}, "get": nil}
	for method, want := range headers {
		var names []string
		all, _ := d.at("paths", "/order", method)["parameters"].([]any)
		for _, p := range all {
			if p := d.resolve(p); p["in"] == "header" {
				names = append(names, p["name"].(string))
			}
		}
		require.Equal(t, want, names, method)
	}
	require.NotNil(t, d.at("paths", "/order", "post", "responses", "201", "headers")["Location"])
}

// TestDescriptionOfWholeRecords: what is answered with all its fields says so, what takes
// fields does not; and no field has to be sent for its default.
func TestDescriptionOfWholeRecords(t *testing.T) {
	t.Parallel()
	d := newFixture(t).description(t, keyAll)
	fields := d.at("components", "schemas", "Order", "properties")
	holds := func(data map[string]any, whole bool) {
		required, _ := data["required"].([]any)
		for name, f := range fields {
			require.Equal(t, whole && f.(map[string]any)["type"] != "array", slices.Contains(required, any(name)), name)
		}
	}
	for op, status := range map[string]string{"/order post": "201", "/order/{id} put": "200", "/order/{id} get": "200"} {
		path, method, _ := strings.Cut(op, " ")
		holds(d.at("paths", path, method, "responses", status, "content", "application/json", "schema", "properties", "data"), method != "get")
	}
	holds(d.at("paths", "/order", "get", "responses", "200", "content", "application/json", "schema", "properties", "data", "items"), false)
	change := d.at("paths", "/changes", "get", "responses", "200", "content", "application/json", "schema", "properties", "data", "items", "properties", "record")
	require.Contains(t, change["anyOf"], map[string]any{"$ref": "#/components/schemas/WholeOrder"})
	for name := range d.at("components", "schemas") {
		each(d.at("components", "schemas", name), func(m map[string]any) { require.NotContains(t, m, "default", name) })
	}
	require.Contains(t, d.at("components", "schemas", "OrderCreate", "properties", "is_blocked")["description"], "0 where it is left out.")
}

// TestDescriptionForGenerators holds the description to what generators of clients stumble
// over: null among the values of an enum, bounds beside one, and lists that have to be written
// in another way than they write them.
func TestDescriptionForGenerators(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	for _, version := range []string{"3.1", "3.0"} {
		d := h.description(t, keyAll+"&version="+version)
		require.Contains(t, d.root["openapi"], version+".")
		each(d.root, func(m map[string]any) {
			values, is := m["enum"].([]any)
			if !is {
				return
			}
			require.NotContains(t, values, nil, "%v", m)
			for _, bound := range []string{"minLength", "maxLength", "minimum", "maximum", "pattern"} {
				require.NotContains(t, m, bound)
			}
		})
	}
	d := h.description(t, keyAll)
	for _, p := range d.at("paths", "/order", "get")["parameters"].([]any) {
		p := d.resolve(p)
		s := p["schema"].(map[string]any)
		switch p["name"] {
		case "fields":
			require.Equal(t, "string", s["type"])
			require.Regexp(t, s["pattern"], "id,orderlines")
			require.NotRegexp(t, s["pattern"], "id,")
			require.NotRegexp(t, s["pattern"], "id,colour")
		case "sort":
			require.Regexp(t, s["pattern"], "-order_date,id")
			require.NotRegexp(t, s["pattern"], "orderlines")
		}
	}
}

// TestDescriptionNamesStay holds what generated clients are named after to be the same
// whatever else the api_key may call.
func TestDescriptionNamesStay(t *testing.T) {
	t.Parallel()
	const few = "22222222-2222-4222-8222-222222222222"
	h := newFixture(t)
	h.setKeys(keyOf(keyAll, "all", h.Grants()...), keyOf(few, "few", Grant{"GET", "/orderline"}, Grant{"PUT", "/order"}, Grant{"GET", "/changes"}))
	all, some := h.description(t, keyAll), h.description(t, few)
	for name, of := range map[string]string{"get /orderline": "listOrderlines", "put /order/{id}": "updateOrder", "get /changes": "listChanges"} {
		method, path, _ := strings.Cut(name, " ")
		for status, response := range some.at("paths", path, method)["responses"].(map[string]any) {
			require.Equal(t, all.at("paths", path, method)["responses"].(map[string]any)[status].(map[string]any)["$ref"], response.(map[string]any)["$ref"], "%s %s", of, status)
		}
	}
}

// TestDescriptionNamesAreNeutral: no component is called like a security scheme, whatever the
// case, since generators make types of both; and what several operations answer is not named
// for one of them.
func TestDescriptionNamesAreNeutral(t *testing.T) {
	t.Parallel()
	d := newFixture(t).description(t, keyAll)
	taken := map[string]bool{}
	for name := range d.at("components", "securitySchemes") {
		taken[strings.ToLower(name)] = true
	}
	for kind := range d.at("components") {
		for name := range d.at("components", kind) {
			require.False(t, kind != "securitySchemes" && taken[strings.ToLower(name)], "%s %s", kind, name)
		}
	}
	users := map[string][]string{}
	for _, op := range d.operations() {
		method, path, _ := strings.Cut(op, " ")
		o := d.at("paths", path, strings.ToLower(method))
		for _, r := range o["responses"].(map[string]any) {
			if ref, is := r.(map[string]any)["$ref"].(string); is {
				users[ref] = append(users[ref], upperFirst(o["operationId"].(string)))
			}
		}
	}
	for ref, of := range users {
		for _, id := range of {
			require.False(t, len(of) > 1 && strings.HasPrefix(ref, "#/components/responses/"+id), "%s is what %v answer", ref, of)
		}
	}
}

// TestDescriptionTellsHowLongSessionsLive as this gateway has it, and not as most do.
func TestDescriptionTellsHowLongSessionsLive(t *testing.T) {
	text := newFixture(t, func(_ *fixture, o *Options) { o.SessionTTL = 10 * time.Minute }).description(t, keyAll).text
	require.Equal(t, 3, strings.Count(text, "valid for 10 minutes"))
	require.NotContains(t, text, "valid for 30 minutes")
	require.NotContains(t, text, "<lifetime>")
}

// TestDescriptionIsSentOnce, and packed where the client wants that.
func TestDescriptionIsSentOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ask := func(headers ...string) answered {
		return visitor{h: h}.ask("GET", "/openapi.json?api_key="+keyAll, "", headers...)
	}
	plain, packed := ask(), ask("Accept-Encoding", "br, gzip")
	require.Equal(t, "Accept-Encoding", plain.head("Vary"))
	require.Equal(t, "private, no-cache", plain.head("Cache-Control"))
	require.Equal(t, "no-referrer", plain.head("Referrer-Policy"), "its address holds the key")
	require.Equal(t, "gzip", packed.head("Content-Encoding"))
	reader, err := gzip.NewReader(bytes.NewReader([]byte(packed.body)))
	require.NoError(t, err)
	unpacked, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.Equal(t, plain.body, string(unpacked))
	require.NotEqual(t, plain.head("ETag"), packed.head("ETag"), "strong tags differ by encoding")
	require.Equal(t, 304, ask("If-None-Match", plain.head("ETag")).status)
	require.Equal(t, 304, ask("If-None-Match", packed.head("ETag"), "Accept-Encoding", "gzip").status)
	require.Equal(t, 200, ask("If-None-Match", packed.head("ETag")).status)
	h.setKeys(keyOf(keyAll, "all", Grant{"GET", "/order"}))
	require.Equal(t, 200, ask("If-None-Match", plain.head("ETag")).status, "another allowlist makes another description")
}

// TestDescriptionOfVersion30 has nothing of what only 3.1 knows.
func TestDescriptionOfVersion30(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	text, err := h.Describe(keyFor(h.Gateway, h.Grants()...), openapi.Version30)
	require.NoError(t, err)
	d := readDescription(t, text)
	require.Regexp(t, `^3\.0\.`, d.root["openapi"])
	require.Equal(t, h.description(t, keyAll).operations(), d.operations())
	each(d.at("components", "schemas"), func(m map[string]any) {
		_, union := m["type"].([]any)
		require.False(t, union, "%v", m)
		require.NotContains(t, m, "const")
	})
	properties := d.at("paths", "/order", "post", "requestBody", "content", "application/json", "schema", "properties")
	require.Equal(t, true, properties["vehicle_id"].(map[string]any)["nullable"])
}

// TestLongRunningBodiesTakeTheReceiver: what answers by callback describes where to, in every body.
func TestLongRunningBodiesTakeTheReceiver(t *testing.T) {
	t.Parallel()
	model, err := sampleModel()
	require.NoError(t, err)
	g := New(Options{
		BasePath: "/webservice_v2", Offer: backend.Offer{Model: model}, Resets: new(auth.Resets), Location: time.UTC, Clock: time.Now,
		Callbacks: &Callbacks{Long: func(Grant) bool { return true }},
	})
	text, err := g.Describe(keyFor(g, g.Grants()...), openapi.Version31)
	require.NoError(t, err)
	type schema struct {
		Ref      string `json:"$ref"`
		Required []string
	}
	var d struct {
		Paths map[string]map[string]struct {
			RequestBody struct {
				Content map[string]struct{ Schema schema }
			}
		}
		Components struct{ Schemas map[string]schema }
	}
	require.NoError(t, json.Unmarshal(text, &d))
	bodies := 0
	for path, methods := range d.Paths {
		for method, op := range methods {
			if content, has := op.RequestBody.Content[jsonType]; has && !isUnderAuthenticate(path) {
				bodies++
				of := d.Components.Schemas[strings.TrimPrefix(content.Schema.Ref, "#/components/schemas/")]
				require.Contains(t, of.Required, webhookURL, "%s %s", method, path)
			}
		}
	}
	require.Greater(t, bodies, 20)
}
