package remote

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/mapping"
)

func TestDecodeXML(t *testing.T) {
	v, err := decodeXML("\ufeff" + `<?xml version="1.0"?><!-- x --><s:A xmlns:s="urn:s" n="1"><b>x<!-- y --><![CDATA[<&]]> z </b><b/><c xsi:nil="true" xmlns:xsi="x"/><d> <e>1</e> </d><f g="2">h</f></s:A>
`)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"A": map[string]any{
		"-s": "urn:s", "-n": "1", "b": []any{"x<& z", ""}, "c": nil, "d": map[string]any{"e": "1"}, "f": map[string]any{"-g": "2", "#text": "h"},
	}}, v.Read())
	for _, text := range []string{"", "x", "<a>", "<a></b>", "<a/><b/>", "<a/>x", "<a>\xff</a>", "<a>\x00</a>", "<a>&x;</a>", `<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`, strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000), "{}"} {
		_, err := decodeXML(text)
		require.ErrorIs(t, err, errNotXML, text)
	}
}

func TestEncodeXML(t *testing.T) {
	encode := func(text string) (string, error) {
		var v any
		require.NoError(t, json.Unmarshal([]byte(text), &v))
		out, err := encodeXML(v)
		return strings.TrimPrefix(string(out), `<?xml version="1.0" encoding="UTF-8"?>`+"\n"), err
	}
	for text, want := range map[string]string{
		`["a"]`: "<a></a>",
		`["s:a",{"xmlns:s":"urn:\"s\"","n":null},["b",1,true,"<&"],null,["c",{"d":2}]]`: `<s:a xmlns:s="urn:&#34;s&#34;"><b>1true&lt;&amp;</b><c d="2"></c></s:a>`,
		`["a",[["b","1"],["b","2"],[]]]`:                                                `<a><b>1</b><b>2</b></a>`,
	} {
		got, err := encode(text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, text := range []string{`{}`, `"a"`, `[]`, `null`, `[["a"]]`, `["a b"]`, `["a><b"]`, `["a",{"x y":1}]`, `["a",{"x":[]}]`, `["a",["b",{},{}]]`, `["a","\u0001"]`, `["a",{"b":"\u0000"}]`} {
		_, err := encode(text)
		require.Error(t, err, text)
	}
}

const soapSheet = `
source: {http: {url: "${SERVICE_URL}", format: xml, retries: 0, headers: {SOAPAction: urn:nav}, jq: 'def envelope(f): ["soap:Envelope", {"xmlns:soap": "http://schemas.xmlsoap.org/soap/envelope/"}, ["soap:Body", f]];'}}
errors:
  - {when: {jq: '.body.Envelope.Body.Fault.faultstring == "exists"'}, reason: duplicate_value, field: reference}
resources:
  order:
    key: {path: No, id: kept}
    version: Key
    walk:
      method: POST
      path: /ws
      body: 'envelope(["ReadMultiple", ["bookmarkKey", .page.after], ["setSize", .page.limit]])'
      result: Envelope.Body.ReadMultiple_Result.Order
      paging: {style: cursor, size: 2}
    get: {method: POST, path: /ws, body: 'envelope(["Read", ["No", .key]])', result: Envelope.Body.Read_Result.Order}
    create: {path: /ws, body: 'envelope(["Create", ["Order", ["Ref", .value.reference], (if .value.description then ["Memo", .value.description] else null end), ["Lines", (.value.orderlines | map(["Line", ["Text", .description], ["Qty", .quantity]]))]]])', result: Envelope.Body.Create_Result.Order}
    delete: {method: POST, path: /ws, body: 'envelope(["Delete", ["key", .version]])'}
    update: {method: POST, path: /ws, body: 'envelope(["Update", ["Key", .version], ["Ref", .value.reference], ["Memo", .value.description]])', result: Envelope.Body.Update_Result.Order}
    fields: {contact_id: {absent: true}, kind: {constant: parts}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, reference: {path: Ref, empty: "null"}, description: Memo, total_excl: {path: Total, readonly: true}, orderlines: {path: Lines.Line}}
  orderline:
    key: {path: [_parent.No, LineNo], id: kept}
    operations: {only: [list]}
    fields: {order_id: _parent.No, description: Text, quantity: Qty, price: {constant: 1}, turnover_group_id: {absent: true}}
`

// TestSOAP speaks to a service of SOAP 1.1 whose lists of one are single elements, and whose empty
// lists are not there.
func TestSOAP(t *testing.T) {
	orders := []string{
		`<Order><Key>k1</Key><No>O1</No><Ref/><Total>4.35</Total><Lines><Line><LineNo>1</LineNo><Text>Oil</Text><Qty>2</Qty></Line><Line><LineNo>2</LineNo><Text>Air</Text><Qty>0.5</Qty></Line></Lines></Order>`,
		`<Order><Key>k2</Key><No>O2</No><Ref>R</Ref><Memo>a &lt; b</Memo><Total>0</Total><Lines><Line><LineNo>1</LineNo><Text>Oil</Text><Qty>1</Qty></Line></Lines></Order>`,
		`<Order><Key>k3</Key><No>3</No><Total>1</Total><Lines></Lines></Order>`,
	}
	var asked []string
	faults := 500
	answer := func(w http.ResponseWriter, status int, body string) {
		w.Header().Set("Content-Type", "text/xml; charset=utf-8")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>`+body+`</s:Body></s:Envelope>`)
	}
	c := speaking(t, soapSheet, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		in, _ := io.ReadAll(r.Body)
		_, body, _ := strings.Cut(string(in), "<soap:Body>")
		body, _, _ = strings.Cut(body, "</soap:Body>")
		asked = append(asked, body)
		require.Equal(t, "urn:nav", r.Header.Get("SOAPAction"))
		require.Equal(t, "text/xml; charset=utf-8", r.Header.Get("Content-Type"))
		switch {
		case strings.Contains(body, "<bookmarkKey></bookmarkKey>"):
			answer(w, 200, "<ReadMultiple_Result>"+orders[0]+orders[1]+"</ReadMultiple_Result>")
		case strings.Contains(body, "<bookmarkKey>O2"):
			answer(w, 200, "<ReadMultiple_Result>"+orders[2]+"</ReadMultiple_Result>")
		case strings.Contains(body, "ReadMultiple"):
			answer(w, 200, "<ReadMultiple_Result/>")
		case strings.Contains(body, "<Create><Order><Ref>O1"):
			answer(w, 500, "<s:Fault><faultcode>s:Client</faultcode><faultstring>exists</faultstring></s:Fault>")
		case strings.Contains(body, "<Create>"):
			answer(w, 200, "<Create_Result>"+orders[1]+"</Create_Result>")
		case strings.Contains(body, "<Read>"):
			answer(w, 200, "<Read_Result>"+orders[2]+"</Read_Result>")
		default:
			answer(w, faults, "<s:Fault><faultcode>s:Server</faultcode><faultstring>down</faultstring></s:Fault>")
		}
	}))
	all, err := c.walked(bg(), "order", noord)
	require.NoError(t, err)
	require.Len(t, all, 3)
	at := all[0].rec.Resource.Field("orderlines").Index
	for i, lines := range []int{2, 1, 0} {
		require.NoError(t, all[i].err)
		require.Len(t, all[i].rec.Children[at], lines)
		require.NotContains(t, all[i].absent, at, "an empty list is not there")
	}
	require.Equal(t, "a < b", all[1].rec.Get("description").Text())
	require.Equal(t, "4.35", all[0].rec.Get("total_excl").String())
	require.Equal(t, "<ReadMultiple><bookmarkKey>3</bookmarkKey><setSize>2</setSize></ReadMultiple>", asked[2])

	made, err := c.create(bg(), nil, c.of("order"), noord, withLines(c.record(t, "order", `{"reference":"R"}`), c.record(t, "orderline", `{"description":"Oil","quantity":1}`)))
	require.NoError(t, err)
	require.Equal(t, `<Create><Order><Ref>R</Ref><Lines><Line><Text>Oil</Text><Qty>1</Qty></Line></Lines></Order></Create>`, asked[len(asked)-1])
	require.Equal(t, "O2", c.keyOf(made))
	_, err = c.create(bg(), nil, c.of("order"), noord, withLines(c.record(t, "order", `{"reference":"O1"}`)))
	violates(mapping.DuplicateValue, "reference", "O1")(t, err)
	asked = nil
	_, err = c.update(bg(), nil, c.of("order"), noord, made, c.record(t, "order", `{"reference":"a\u0001b"}`))
	violates(mapping.VarcharInvalid, "reference", "a\u0001b")(t, err)
	require.Empty(t, asked, "what XML cannot have is not sent")
	failsPlainly(t, c.delete(bg(), nil, c.of("order"), noord, made))
	require.Equal(t, []string{"<Delete><key>k2</key></Delete>"}, asked)
	faults = 200
	fails(backend.ErrUnexpected)(t, c.delete(bg(), nil, c.of("order"), noord, made))
}

// TestNoLinesInXML: an order whose lines, and what is around them, XML leaves out has none. Its tag
// changes with the first that is added.
func TestNoLinesInXML(t *testing.T) {
	lines := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		order := "<Order><No>1</No><Contact>1</Contact>" + lines + "</Order>"
		if r.URL.Path == "/orders" {
			order = "<Orders>" + order + "<Order><No>2</No><Contact>1</Contact><Lines><Line><LineNo>1</LineNo><Text>Oil</Text></Line></Lines></Order></Orders>"
		}
		w.Header().Set("Content-Type", "text/xml; charset=utf-8")
		_, _ = io.WriteString(w, order)
	}))
	t.Cleanup(server.Close)
	d := openDriver(t, `format: 2
source: {http: {url: "${URL}", format: xml, walk: {paging: {style: none}}}}
keep: keep.db
rules: backend
client: ""
accounts: {users: []}
resources:
  order:
    path: /orders
    key: "No"
    operations: {only: [get, list]}
    walk: {result: Orders.Order}
    get: {result: Order}
    fields: {contact_id: {absent: true}, kind: {constant: parts}, order_status: {constant: open}, order_date: {constant: "2026-01-01T00:00:00Z"}, orderlines: {path: Lines.Line}}
  orderline:
    key: {path: [_parent.No, LineNo], id: kept}
    operations: {only: [list]}
    fields: {order_id: _parent.No, description: Text, quantity: {constant: 1}, price: {constant: 1}, turnover_group_id: {absent: true}}
`, server.URL, "")
	order := d.Sheet.Model.Resource("order")
	tags := map[int64]bool{}
	for n, said := range []string{"", "<Lines/>", "<Lines><Line><LineNo>1</LineNo><Text>Air</Text></Line></Lines>"} {
		lines = said
		rec, err := d.Get(bg(), order, backend.Query{Client: north, ID: 1, Fields: []int{order.Field("orderlines").Index}})
		require.NoError(t, err)
		require.NotEqual(t, int64(mapping.Untold), rec.Tag)
		require.Len(t, rec.Children[order.Field("orderlines").Index], n/2)
		tags[cmp.Or(rec.Tag, rec.Version)] = true
	}
	require.Len(t, tags, 2, "with the line alone")
}
