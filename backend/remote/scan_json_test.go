package remote

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping/sheet"
)

func text(s string) sheet.Raw   { return sheet.Raw{Kind: sheet.RawText, Text: s} }
func number(s string) sheet.Raw { return sheet.Raw{Kind: sheet.RawNumber, Text: s} }
func whole(n int64) sheet.Raw   { return sheet.Raw{Kind: sheet.RawInt, Int: n} }

var (
	absent = sheet.Raw{}
	null   = sheet.Raw{Kind: sheet.RawNull}
	yes    = sheet.Raw{Kind: sheet.RawBool, Int: 1}
)

func TestJSONPlaces(t *testing.T) {
	s := newShape("a", "b.c", "list.1.x", "d")
	for _, test := range []struct {
		json string
		want []sheet.Raw
	}{
		{`{}`, []sheet.Raw{absent, absent, absent, absent}},
		{` { "d" : true , "b":{"z":[1,{"c":2}],"c":"x"},"a":null } `, []sheet.Raw{null, text("x"), absent, yes}},
		{`{"a":-0.50,"list":[{"x":1},{"x":2},{"x":3}]}`, []sheet.Raw{number("-0.50"), absent, whole(2), absent}},
		{`{"a":123456789012345678,"b":null,"list":[],"d":1234567890123456789}`, []sheet.Raw{whole(123456789012345678), null, absent, number("1234567890123456789")}},
		{`{"a":1e3,"d":"tab\tq\"é😀 end"}`, []sheet.Raw{number("1e3"), absent, absent, text("tab\tq\"é😀 end")}},
		{`{"\u0061":"","b":{}}`, []sheet.Raw{text(""), absent, absent, absent}},
	} {
		got, err := new(jsonScanner).scan(s, test.json)
		require.NoError(t, err, test.json)
		require.Equal(t, test.want, got.values, test.json)
	}
}

func TestJSONLists(t *testing.T) {
	line := newShape("n")
	order := newShape("id")
	err := order.addList("lines", line)
	require.NoError(t, err)
	top := newShape("next")
	err = top.addList("data.items", order)
	require.NoError(t, err)
	got, err := new(jsonScanner).scan(top, `{"data":{"items":[{"id":1,"lines":[{"n":"a"},{"n":"b"}]},{"id":2,"lines":null},{"lines":[],"id":3}]},"next":"c"}`)
	require.NoError(t, err)
	rows := got.lists[0].rows
	require.Len(t, rows, 3)
	require.Equal(t, text("b"), rows[0].lists[0].rows[1].values[0])
	require.False(t, rows[1].lists[0].there)
	require.True(t, rows[2].lists[0].there)
	require.Equal(t, text("c"), got.values[0])

	got, err = new(jsonScanner).scan(top, `{"data":{"items":{"id":7}}}`)
	require.NoError(t, err)
	require.Equal(t, whole(7), got.lists[0].rows[0].values[0])
	err = order.addList("id", line)
	require.Error(t, err)
}

func TestJSONIsRefused(t *testing.T) {
	s := newShape("a", "b.c")
	for _, bad := range []string{
		``, ` `, `{`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{"a":1}x`, `[1,]`, `{"a":01}`, `{"a":1.}`, `{"a":.5}`, `{"a":-}`, `{"a":1e}`,
		`{"a":tru}`, `{"a":"x}`, "{\"a\":\"x\ny\"}", `{"a":"\x"}`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}", `{"a":1 "b":2}`, `{'a':1}`,
		`{"a":1,"a":1}`, `{"b":{"c":1},"b":{"c":2}}`, `{"b":{"c":1,"c":2}}`, `{"a":{"x":1}}`, `{"a":[1]}`, `{"b":1}`,
		strings.Repeat("[", 70) + strings.Repeat("]", 70), `{"z":` + strings.Repeat(`{"z":`, 70) + `1` + strings.Repeat(`}`, 71),
	} {
		_, err := new(jsonScanner).scan(s, bad)
		require.Error(t, err, bad)
	}
}

// What encoding/json takes, the scanner takes, and finds the same; and it takes
// nothing that jsontext does not.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`{"a":1,"b":{"c":"x\u00e9"}}`, `{"a":-1.5e3,"list":[{"x":null}]}`, `[]`, `{"a":"\ud83d\ude00"}`, `{"a":[[[]]]}`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		s := newShape("a", "b.c")
		if err := s.addList("list", newShape("x")); err != nil {
			t.Fatal(err)
		}
		got, err := new(jsonScanner).scan(s, in)
		whole := jsontext.Value(in)
		if err == nil && !whole.IsValid(jsontext.AllowDuplicateNames(true)) {
			t.Fatalf("taken: %q", in)
		}
		if !whole.IsValid() || whole.Kind() != '{' || strings.Count(in, "{")+strings.Count(in, "[") > maxDepth {
			return
		}
		var members map[string]any
		d := json.NewDecoder(strings.NewReader(in))
		d.UseNumber()
		if err := d.Decode(&members); err != nil {
			t.Fatal(err)
		}
		a, scalar := rawOf(members["a"])
		var c any
		switch b := members["b"].(type) {
		case map[string]any:
			c = b["c"]
		case []any:
		case nil:
			if _, there := members["b"]; there {
				c = nil
			}
		default:
			return // a value in place of an object
		}
		cRaw, cScalar := rawOf(c)
		if !scalar || !cScalar {
			if err == nil {
				t.Fatalf("taken: %q", in)
			}
			return
		}
		switch members["list"].(type) {
		case nil, map[string]any, []any:
		default:
			return
		}
		if strings.Contains(in, "list") {
			return // its elements may be anything
		}
		if err != nil {
			t.Fatalf("refused: %q: %v", in, err)
		}
		for i, want := range []sheet.Raw{a, cRaw} {
			if have := got.values[i]; have.String() != want.String() || have.IsSet() != want.IsSet() {
				t.Fatalf("%q: %v in place of %v", in, have, want)
			}
		}
	})
}

// rawOf is what the scanner should find; false for what is no value.
func rawOf(v any) (sheet.Raw, bool) {
	switch v := v.(type) {
	case nil:
		return sheet.Raw{}, true
	case bool:
		return sheet.Raw{Kind: sheet.RawBool, Int: map[bool]int64{true: 1}[v]}, true
	case string:
		return text(v), true
	case json.Number:
		if v == "-0" {
			return whole(0), true
		}
		return number(v.String()), true
	default:
		return sheet.Raw{}, false
	}
}

func TestPlainFindsTheFirst(t *testing.T) {
	for n := range 40 {
		for _, c := range []byte{'"', '\\', 0, 0x1f} {
			s := strings.Repeat("é", n) + string(c) + "tail \" tail"
			require.Equal(t, 2*n, plain(s), "%q", s)
			s = strings.Repeat("x", n) + string(c) + "\"\"\"\"\"\"\"\""
			require.Equal(t, n, plain(s), "%q", s)
		}
	}
	require.Equal(t, 21, plain(strings.Repeat("~ !", 7)))
}
