package sheet

import (
	"encoding/xml"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
)

// FuzzJSONBody: whatever the template and the values, what comes out is JSON.
func FuzzJSONBody(f *testing.F) {
	f.Add(`{"a": {fields}, "b": "x {v}", "c": {v}, "d": [{v}, "{w}"], "e": "\"{v}"}`, `"},{`)
	f.Add(`[{v}{w}]`, "\\")
	f.Add(`"{v}"`, "\x00\xff")
	for _, number := range []string{"0", "-0", "12", "-12.50", "007", "1.", ".5", "+1", "1.5e3", "-", "0.00"} {
		f.Add(`{fields}`, number)
	}
	f.Fuzz(func(t *testing.T, text, value string) {
		n, err := parseJSON(text)
		if err != nil {
			return
		}
		get := func(name string) Raw {
			if name == "w" {
				return Raw{}
			}
			return textRaw(value)
		}
		fields := []Assignment{{Place: "p.q", Value: textRaw(value)}, {Place: "p.r", Value: Raw{Kind: RawNumber, Text: value}}, {Place: value + "x", Value: intRaw(1)}}
		out, present, err := n.fill(nil, &filling{Values: Values{Get: get, Fields: fields}})
		if err == nil && present && !jsontext.Value(out).IsValid() {
			t.Errorf("%q with %q became %s", text, value, out)
		}
	})
}

// FuzzXMLBody: whatever the values, an element stays one element.
func FuzzXMLBody(f *testing.F) {
	f.Add(`]]></b><c>`)
	f.Add("\x00\xff&#0;")
	f.Fuzz(func(t *testing.T, value string) {
		b, err := parseXML(`<a x="{v}"><b>{v}</b><c>{fields}</c></a>`)
		require.NoError(t, err)
		fields := []Assignment{{Place: "p.q", Value: textRaw(value)}, {Place: "p.@r", Value: textRaw(value)}}
		out, err := b.append(nil, &filling{Values: Values{Get: func(string) Raw { return textRaw(value) }, Fields: fields}})
		require.NoError(t, err)
		elements := 0
		for d := xml.NewDecoder(strings.NewReader(string(out))); ; {
			token, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%q became %s: %v", value, out, err)
			}
			if _, ok := token.(xml.StartElement); ok {
				elements++
			}
		}
		if elements != 5 {
			t.Errorf("%q became %s", value, out)
		}
	})
}
