package gateway

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"frontdesk/mapping"

	"github.com/stretchr/testify/require"
)

// description is a decoded one, as a reader of JSON walks it.
type descriptionJSON struct {
	t    *testing.T
	text string
	root map[string]any
}

func (h *fixture) description(t *testing.T, key string) descriptionJSON {
	t.Helper()
	a := visitor{h: h}.ask("GET", "/openapi.json?api_key="+key, "")
	require.Equal(t, 200, a.status, a.body)
	require.Equal(t, "application/json", a.head("Content-Type"))
	return descriptionJSON{t, a.body, decode[map[string]any](t, a)}
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
func (d descriptionJSON) at(names ...string) map[string]any { return d.in(d.root, names...) }

// in follows names from a place.
func (d descriptionJSON) in(v any, names ...string) map[string]any {
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

// TestDescriptionOfLongRunning: what answers by callback takes the receiver, in every body, promises
// the answer, and describes the call.
func TestDescriptionOfLongRunning(t *testing.T) {
	t.Parallel()
	everything := func(_ *fixture, o *Options) { o.Callbacks = &Callbacks{Long: func(Grant) bool { return true }} }
	d, bodies := newFixture(t, everything).description(t, keyAll), 0
	for _, op := range d.operations() {
		method, path, _ := strings.Cut(op, " ")
		o := d.at("paths", path, strings.ToLower(method))
		if isUnderAuthenticate(path) || o["requestBody"] == nil {
			continue
		}
		bodies++
		require.Contains(t, d.in(o, "requestBody", "content", jsonType, "schema")["required"], webhookURL, op)
	}
	require.Greater(t, bodies, 20)
	d = newLongFixture(t, Grant{"GET", "/order"}, Grant{"POST", "/contact"}).description(t, keyAll)
	for _, op := range []string{"/backup/owner post", "/order get", "/order/{id} get", "/contact post"} {
		path, method, _ := strings.Cut(op, " ")
		o := d.at("paths", path, method)
		require.Contains(t, o["responses"], "202", op)
		require.NotContains(t, o["responses"], "200", op)
		require.NotEmpty(t, o["callbacks"], op)
	}
	require.Contains(t, d.at("paths", "/contact/{id}", "put", "responses"), "200")
}

// TestDescriptionOfARecord: what is sent, by the model. What is answered, each answer of a test is held to.
func TestDescriptionOfARecord(t *testing.T) {
	t.Parallel()
	d := newFixture(t).description(t, keyAll)
	create := d.at("paths", "/order", "post", "requestBody", "content", jsonType, "schema")
	require.ElementsMatch(t, []any{"contact_id", "kind", "order_status", "order_date"}, create["required"])
	for _, name := range []string{"id", "number", "total_excl", "created_at"} {
		require.NotContains(t, create["properties"], name, "a new order has none")
	}
	for at, want := range map[string]any{
		"kind enum": []any{"workshop", "sales", "parts", "lease"}, "kind type": "string", "vehicle_id type": []any{"integer", "null"}, "reference maxLength": 50.0, "orderlines minItems": 1.0,
	} {
		field, name, _ := strings.Cut(at, " ")
		require.Equal(t, want, d.in(create, "properties", field)[name], at)
	}
	require.Empty(t, d.at("paths", "/order/{id}", "put", "requestBody", "content", jsonType, "schema")["required"], "fields that are not sent keep their value")
	for method, want := range map[string][]string{"post": {"Idempotency-Key"}, "get": nil} {
		var names []string
		all, _ := d.at("paths", "/order", method)["parameters"].([]any)
		for _, p := range all {
			if p := d.resolve(p); p["in"] == "header" {
				names = append(names, p["name"].(string))
			}
		}
		require.Equal(t, want, names, method)
	}
}

// TestDescriptionOfWholeRecords: what is answered with all its fields says so, what takes
// fields does not; and no field has to be sent for its default.
func TestDescriptionOfWholeRecords(t *testing.T) {
	t.Parallel()
	d := newFixture(t).description(t, keyAll)
	fields := d.at("components", "schemas", "Order", "properties")
	for answer, whole := range map[string]bool{"/order post 201": true, "/order/{id} put 200": true, "/order/{id} get 200": false, "/order get 200": false} {
		at := strings.Fields(answer)
		data := d.at("paths", at[0], at[1], "responses", at[2], "content", jsonType, "schema", "properties", "data")
		if data["items"] != nil {
			data = d.in(data, "items")
		}
		required, _ := data["required"].([]any)
		for name, f := range fields {
			require.Equal(t, whole && f.(map[string]any)["type"] != "array", slices.Contains(required, any(name)), "%s: %s", answer, name)
		}
	}
	change := d.at("paths", "/changes", "get", "responses", "200", "content", jsonType, "schema", "properties", "data", "items", "properties", "record")
	require.Contains(t, change["anyOf"], map[string]any{"$ref": "#/components/schemas/WholeOrder"})
	each(d.at("components", "schemas"), func(m map[string]any) { require.NotContains(t, m, "default") })
	require.Contains(t, d.at("components", "schemas", "OrderCreate", "properties", "is_blocked")["description"], "0 where it is left out.")
}

// TestDescriptionForGenerators holds the description to what generators of clients stumble
// over: null among the values of an enum, bounds beside one, and lists that have to be written
// in another way than they write them.
func TestDescriptionForGenerators(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	d := h.description(t, keyAll)
	for version, nullable := range map[string]any{"3.1": nil, "3.0": true} {
		of := h.description(t, keyAll+"&version="+version)
		require.Contains(t, of.root["openapi"], version+".")
		require.Equal(t, d.operations(), of.operations())
		require.Equal(t, nullable, of.at("components", "schemas", "OrderCreate", "properties", "vehicle_id")["nullable"])
		each(of.root, func(m map[string]any) {
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

// TestDescriptionOfFew: an api_key is described what it may call, and what generated clients are named
// after is the same whatever else it may call.
func TestDescriptionOfFew(t *testing.T) {
	t.Parallel()
	const few = "22222222-2222-4222-8222-222222222222"
	h := newFixture(t)
	h.setKeys(keyOf(keyAll, "all", h.Grants()...), keyOf(few, "few", Grant{"GET", "/orderline"}, Grant{"PUT", "/order"}, Grant{"GET", "/changes"}))
	all, some := h.description(t, keyAll), h.description(t, few)
	granted := slices.DeleteFunc(some.operations(), func(op string) bool { return strings.Contains(op, " /authenticate") })
	require.Equal(t, []string{"GET /changes", "GET /orderline", "GET /orderline/{id}", "PUT /order/{id}"}, granted)
	for _, op := range granted {
		method, path, _ := strings.Cut(op, " ")
		for status, response := range some.at("paths", path, strings.ToLower(method), "responses") {
			require.Equal(t, all.at("paths", path, strings.ToLower(method), "responses")[status].(map[string]any)["$ref"], response.(map[string]any)["$ref"], "%s %s", op, status)
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
		require.NotEmpty(t, o["summary"], op)
		require.Len(t, o["tags"], 1, op)
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

// TestDescriptionHasNoExampleToChange keeps programs that send examples from changing records:
// outside the demo no example names one.
func TestDescriptionHasNoExampleToChange(t *testing.T) {
	t.Parallel()
	d, examples := newFixture(t).description(t, keyAll), 0
	for _, op := range d.operations() {
		method, path, _ := strings.Cut(op, " ")
		o := d.at("paths", path, strings.ToLower(method))
		if method == "GET" {
			continue
		}
		params, _ := o["parameters"].([]any)
		for _, p := range params {
			if p := d.resolve(p); p["name"] == "id" {
				require.Empty(t, p["examples"], op)
				require.Empty(t, d.in(p, "schema")["examples"], op)
			}
		}
		if o["requestBody"] == nil {
			continue
		}
		content, _ := d.in(o, "requestBody", "content")[jsonType].(map[string]any)
		all, _ := content["examples"].(map[string]any)
		for _, example := range all {
			examples++
			require.NotContains(t, d.in(example, "value"), "id", op)
			require.False(t, method == "PUT" && strings.HasSuffix(path, "/bulk"), op)
		}
	}
	require.Greater(t, examples, 20)
}

// TestDescriptionTellsHowLongSessionsLive as this gateway has it, and not as most do.
func TestDescriptionTellsHowLongSessionsLive(t *testing.T) {
	t.Parallel()
	text := newFixture(t, func(_ *fixture, o *Options) { o.SessionTTL = 10 * time.Minute }).description(t, keyAll).text
	require.Equal(t, 3, strings.Count(text, "valid for 10 minutes"))
	require.NotContains(t, text, "valid for 30 minutes")
	require.NotContains(t, text, "<lifetime>")
}

// TestDescriptionIsSentOnce, to an api_key that there is, and packed where the client wants that.
func TestDescriptionIsSentOnce(t *testing.T) {
	t.Parallel()
	h := newFixture(t)
	ask := func(key string, headers ...string) answered {
		return visitor{h: h}.ask("GET", "/openapi.json"+key, "", headers...)
	}
	const own = "?api_key=" + keyAll
	plain, packed := ask(own), ask(own, "Accept-Encoding", "br, gzip")
	for name, want := range map[string]string{"Vary": "Accept-Encoding", "Cache-Control": "private, no-cache", "Referrer-Policy": "no-referrer", "Content-Encoding": ""} {
		require.Equal(t, want, plain.head(name))
	}
	require.Equal(t, "gzip", packed.head("Content-Encoding"))
	require.Equal(t, plain.body, unzipped(t, packed.body))
	require.NotEqual(t, plain.head("ETag"), packed.head("ETag"), "strong tags differ by encoding")
	for _, unwanted := range []string{"identity", "gzip;q=0", "br, gzip; q=0.0", "x-gzip"} {
		require.Equal(t, plain.head("ETag"), ask(own, "Accept-Encoding", unwanted).head("ETag"), unwanted)
	}
	again := ask(own, "If-None-Match", plain.head("ETag"))
	require.Equal(t, []any{304, ""}, []any{again.status, again.body})
	require.Equal(t, 304, ask(own, "If-None-Match", packed.head("ETag"), "Accept-Encoding", "gzip").status)
	require.Equal(t, 200, ask(own, "If-None-Match", packed.head("ETag")).status)
	h.setKeys(keyOf(keyAll, "all", Grant{"GET", "/order"}))
	require.Equal(t, 200, ask(own, "If-None-Match", plain.head("ETag")).status, "another allowlist makes another description")

	refused(t, ask(""), fault{400, "These parameter(s): api_key are required", mapping.ParametersRequired, ""})
	for _, key := range []string{"x", "11111111-1111-4111-8111-111111111112", strings.ToUpper(keyAll) + "0"} {
		require.Equal(t, 401, ask("?api_key="+key).status, key)
	}
	require.Equal(t, 400, visitor{h: h}.ask("POST", "/openapi.json"+own, "").status)
	require.Equal(t, 400, visitor{h: h}.ask("GET", "/"+own, "", "Accept", "text/html").status, "the first page takes no api_key")
}
