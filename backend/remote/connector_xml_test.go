package remote

import (
	"cmp"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/rig/must"
	"frontdesk/mapping"
)

func TestDecodeXML(t *testing.T) {
	v := must.Have(decodeXML("\ufeff" + `<?xml version="1.0"?><!-- x --><s:A xmlns:s="urn:s" n="1"><b>x<!-- y --><![CDATA[<&]]> z </b><b/><c xsi:nil="true" xmlns:xsi="x"/><d> <e>1</e> </d><f g="2">h</f></s:A>
`))(t)
	require.Equal(t, map[string]any{"A": map[string]any{
		"-s": "urn:s", "-n": "1", "b": []any{"x<& z", ""}, "c": nil, "d": map[string]any{"e": "1"}, "f": map[string]any{"-g": "2", "#text": "h"},
	}}, v.Read())
	for _, text := range []string{"", "x", "<a>", "<a></b>", "<a/><b/>", "<a/>x", "<a>\xff</a>", "<a>\x00</a>", "<a>&x;</a>", `<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>`, strings.Repeat("<a>", 10_000) + strings.Repeat("</a>", 10_000), "{}"} {
		require.ErrorIs(t, must.Fail(decodeXML(text)), errNotXML, text)
	}
}

func TestEncodeXML(t *testing.T) {
	encode := func(text string) (string, error) {
		v := must.JSON[any](t, text)
		out, err := encodeXML(v)
		return strings.TrimPrefix(string(out), `<?xml version="1.0" encoding="UTF-8"?>`+"\n"), err
	}
	for text, want := range map[string]string{
		`["a"]`: "<a></a>",
		`["s:a",{"xmlns:s":"urn:\"s\"","n":null},["b",1,true,"<&"],null,["c",{"d":2}]]`: `<s:a xmlns:s="urn:&#34;s&#34;"><b>1true&lt;&amp;</b><c d="2"></c></s:a>`,
		`["a",[["b","1"],["b","2"],[]]]`:                                                `<a><b>1</b><b>2</b></a>`,
	} {
		require.Equal(t, want, must.Have(encode(text))(t))
	}
	for _, text := range []string{`{}`, `"a"`, `[]`, `null`, `[["a"]]`, `["a b"]`, `["a><b"]`, `["a",{"x y":1}]`, `["a",{"x":[]}]`, `["a",["b",{},{}]]`, `["a","\u0001"]`, `["a",{"b":"\u0000"}]`} {
		require.Error(t, must.Fail(encode(text)), text)
	}
}

// TestNoLinesInXML: an order whose lines, and what is around them, XML leaves out has none. Its tag
// changes with the first that is added.
func TestNoLinesInXML(t *testing.T) {
	var lines atomic.Value
	lines.Store("")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		order := "<Order><No>1</No><Contact>1</Contact>" + lines.Load().(string) + "</Order>"
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
		lines.Store(said)
		rec := must.Have(d.Get(bg(), order, backend.Query{Client: north, ID: 1, Fields: []int{order.Field("orderlines").Index}}))(t)
		require.NotEqual(t, int64(mapping.NoTag), rec.Tag)
		require.Len(t, rec.Children[order.Field("orderlines").Index], n/2)
		tags[cmp.Or(rec.Tag, rec.Version)] = true
	}
	require.Len(t, tags, 2, "with the line alone")
}
