package sheet_test

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
	"frontdesk/mapping/sheet"
)

func values(given map[string]sheet.Raw, fields ...sheet.Assignment) sheet.Values {
	return sheet.Values{Get: func(name string) sheet.Raw { return given[name] }, Fields: fields}
}

func build(t *testing.T, q *sheet.Request, v sheet.Values) sheet.Call {
	t.Helper()
	c, err := q.Build(v)
	require.NoError(t, err)
	return c
}

func TestBuildList(t *testing.T) {
	list := load(t, "testdata/cloud.yaml").Resource("contact").Operations[mapping.OpList].Request
	got := build(t, list, values(map[string]sheet.Raw{"limit": number(50), "filter.number": text("A&B=1 #?")}))
	if got.Method != "GET" || got.Target != "/contacts?top=50&number=A%26B%3D1%20%23%3F" || got.Body != nil {
		t.Errorf("got %+v", got)
	}
	if got := build(t, list, values(nil)); got.Target != "/contacts" {
		t.Errorf("got %+v", got)
	}
	if !list.Uses("cursor") || list.Uses("page") {
		t.Error("uses the wrong placeholders")
	}
}

func TestBuildOwnHeaders(t *testing.T) {
	h := load(t, "testdata/cloud.yaml").Source.HTTP
	got, err := h.Headers.AppendHeaders(nil, values(map[string]sheet.Raw{"client.id": number(7)}))
	if diff := cmp.Diff([][2]string{{"Accept-Language", "nl"}, {"X-Tenant", "7"}}, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if got, _ := h.LogOn.Headers.AppendHeaders(nil, values(nil)); got != nil {
		t.Errorf("a header without its token: %v", got)
	}
	on := build(t, h.LogOn.Request, values(nil))
	if string(on.Body) != "grant_type=password&username=frontdesk&password=hush-hush" || on.Method != "POST" {
		t.Errorf("got %s", on.Body)
	}
	if h.URL != "https://cloud.example.nl/api/v3" {
		t.Error(h.URL)
	}
}

func TestBuildFields(t *testing.T) {
	r := load(t, "testdata/cloud.yaml").Resource("contact")
	rec := mapping.NewRecord(r.Resource)
	rec.Set("kind", mapping.TextValue("company"))
	rec.Set("name", mapping.TextValue(`"De" \ Wit`))
	rec.Set("first_name", mapping.NullValue())
	rec.Set("infix", mapping.TextValue(""))
	rec.Set("birth_date", mapping.TimeValue(noon))
	rec.Set("payment_days", mapping.IntValue(30))
	rec.Set("is_customer", mapping.IntValue(1))
	fields, err := r.Encode(rec, nil, branch, nil, true)
	require.NoError(t, err)
	got := build(t, r.Operations[mapping.OpCreate].Request, values(nil, fields...))
	const want = `{"source":"frontdesk","flags":{"web":true,"customer":true},"prio":3,"type":"business","lastName":"\"De\" \\ Wit",` +
		`"name":{"first":null,"infix":""},"born":"2026-07-01","terms":{"days":"30"}}`
	assert.Empty(t, cmp.Diff(want, string(got.Body)), "create (-want +got)")
	patch := mapping.NewRecord(r.Resource)
	patch.Set("infix", mapping.TextValue("de"))
	fields, err = r.Encode(patch, nil, branch, nil, false)
	require.NoError(t, err)
	got = build(t, r.Operations[mapping.OpUpdate].Request, values(map[string]sheet.Raw{"key": text("a/b?c"), "client.id": number(7)}, fields...))
	if got.Target != "/contacts/a%2Fb%3Fc" || string(got.Body) != `{"contact":{"name":{"infix":"de"}},"by":"tenant-7"}` || got.Method != "PATCH" {
		t.Errorf("update: %s %s %s", got.Method, got.Target, got.Body)
	}
}

func TestBuildChildren(t *testing.T) {
	r := load(t, "testdata/cloud.yaml").Resource("order")
	lines := sheet.Assignment{Place: "lines", Rows: [][]sheet.Assignment{
		{{Place: "text", Value: text("Oil")}, {Place: "price", Value: decimal("12.5")}}, {{Place: "text", Value: text("Tyre")}},
	}}
	got := build(t, r.Operations[mapping.OpCreate].Request, values(nil, lines))
	if string(got.Body) != `{"lines":[{"text":"Oil","price":12.5},{"text":"Tyre"}]}` {
		t.Errorf("got %s", got.Body)
	}
}

func TestBuildXML(t *testing.T) {
	r := load(t, "testdata/lijn.yaml").Resource("vehicle")
	given := map[string]sheet.Raw{"key": text(`1"<2>`), "token": text("a&b")}
	got := build(t, r.Operations[mapping.OpUpdate].Request, values(given,
		sheet.Assignment{Place: "Kenteken", Value: text("<X>&1")}, sheet.Assignment{Place: "Merk.@code", Value: text(`A"B`)},
		sheet.Assignment{Place: "Km", Value: null()}))
	const want = `<?xml version="1.0" encoding="utf-8"?><s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/" xmlns:l="urn:lijn">` +
		`<s:Header><l:session>a&amp;b</l:session></s:Header><s:Body><l:Wijzig nummer="1&#34;&lt;2&gt;"><l:Voertuig><Kenteken>&lt;X&gt;&amp;1</Kenteken>` +
		`<Merk code="A&#34;B"></Merk><Km xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:nil="true"/></l:Voertuig></l:Wijzig></s:Body></s:Envelope>`
	assert.Empty(t, cmp.Diff(want, string(got.Body)), "body (-want +got)")
	get := build(t, r.Operations[mapping.OpGet].Request, values(map[string]sheet.Raw{"key": number(5)}))
	if !strings.Contains(string(get.Body), "<s:Header></s:Header>") || get.Headers[0] != [2]string{"SOAPAction", `"urn:lijn#Haal"`} {
		t.Errorf("get: %s %v", get.Body, get.Headers)
	}
}

// hostile are values that must stay values wherever they stand.
var hostile = []string{
	`"`, `\`, `","admin":true,"x":"`, "a\r\nX-Evil: 1", "\x00", "../../etc", `a\..\b`, "..", ".", "", "a/b", "?x=1", "#f", "%2e%2e%2f", "{key}", "{secret.password}",
	"<b>", "]]>", "&lt;", "' or 1=1 --", "{\"a\":1}", "null", "é\u2028", "\xff\xfe", "<!--", "a b&c=d",
}

func TestBuildKeepsValuesInTheirPlace(t *testing.T) {
	cloud, lijn := load(t, "testdata/cloud.yaml"), load(t, "testdata/lijn.yaml")
	update := cloud.Resource("contact").Operations[mapping.OpUpdate].Request
	list := cloud.Resource("contact").Operations[mapping.OpList].Request
	for _, h := range hostile {
		given := map[string]sheet.Raw{"key": text(h), "client.id": text(h), "filter.number": text(h), "limit": number(1), "token": text(h)}
		v := values(given, sheet.Assignment{Place: "lastName", Value: text(h)})
		c, err := update.Build(v)
		wrong := slices.Contains([]string{"", ".", "..", "../../etc", `a\..\b`, "a\r\nX-Evil: 1", "\x00", "é\u2028", "\xff\xfe"}, h)
		if wrong != sheet.IsUnsendable(err) {
			t.Errorf("%q in a path: %v", h, err)
		}
		if err == nil {
			u, err := url.Parse("https://x" + c.Target)
			if err != nil || u.Path != "/contacts/"+h || u.RawQuery != "" || strings.Count(c.Target, "/") != 2 {
				t.Errorf("%q became path %s", h, c.Target)
			}
			var body struct {
				Contact map[string]string
				By      string
			}
			if err := json.Unmarshal(c.Body, &body); err != nil || len(body.Contact) != 1 || body.Contact["lastName"] != strings.ToValidUTF8(h, "\ufffd") && h != "\xff\xfe" {
				t.Errorf("%q became body %s: %v", h, c.Body, err)
			}
		}
		c = build(t, list, v)
		if u, err := url.Parse("https://x" + c.Target); err != nil || u.Query().Get("number") != h || len(u.Query()) != 2 {
			t.Errorf("%q became query %s", h, c.Target)
		}
		headers, err := cloud.Source.HTTP.Headers.AppendHeaders(nil, v)
		if err == nil && strings.ContainsAny(headers[1][1], "\r\n\x00") {
			t.Errorf("%q became header %q", h, headers[1][1])
		}
		c = build(t, lijn.Resource("vehicle").Operations[mapping.OpUpdate].Request, v)
		elements := 0
		for d := xml.NewDecoder(strings.NewReader(string(c.Body))); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%q became %s: %v", h, c.Body, err)
			}
			if _, ok := token.(xml.StartElement); ok {
				elements++
			}
		}
		if elements != 7 {
			t.Errorf("%q became %d elements: %s", h, elements, c.Body)
		}
	}
}

// TestValuesNamedApart are in {fields} no more, also where they stand alone in JSON.
func TestValuesNamedApart(t *testing.T) {
	src, err := os.ReadFile("testdata/cloud.yaml")
	require.NoError(t, err)
	text := strings.Replace(string(src), `"by": "tenant-{client.id}"`, `"days": {value.payment_days}`, 1)
	update := parse(t, text).Resource("contact").Operations[mapping.OpUpdate].Request
	if !update.UsesValues() || !update.Uses("value.payment_days") {
		t.Error("a value alone in JSON is not known to be named")
	}
}
