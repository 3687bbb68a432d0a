package gateway

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParamsAreDecodedOnce(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][][2]string{
		"":                     nil,
		"&&":                   nil,
		"a":                    {{"a", ""}},
		"=":                    {{"", ""}},
		"a=1&&b=2=3":           {{"a", "1"}, {"b", "2=3"}},
		"%61=%2541&a+b=c%20+d": {{"a", "%41"}, {"a b", "c  d"}},
		"a=%c3%A9%":            {{"a", "é%"}},
		"a=%4&b=%zz":           {{"a", "%4"}, {"b", "%zz"}},
	} {
		var got [][2]string
		for _, p := range appendParams(nil, []byte(raw)) {
			got = append(got, [2]string{p.Name, p.Value})
		}
		require.Equal(t, want, got, raw)
	}
}

// TestLists: a comma separates, also as %2C, which URL libraries write for one; within a value it
// is \,. So it is in the address of the next page and in a stored request.
func TestLists(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string][]string{
		"F1480%2CF878": {"F1480", "F878"}, "F1480,F878": {"F1480", "F878"}, "a%5C%2Cb,c+d,,%25": {"a,b", "c d", "", "%"},
		"a%5C,b": {"a,b"}, "%5C%5C,x%5Cy%5C": {`\,x\y\`}, "": {""}, "Jans%C3%A9n,%CE%A9": {"Jansén", "Ω"},
	} {
		params := appendParams(nil, []byte("name[in]="+raw+"&name=a,b"))
		require.Equal(t, want, params[0].list(), raw)
		require.Equal(t, want, appendParams(nil, []byte(encodeParams(params)))[0].list(), raw)
	}
}

// TestManyParameters: comparing each with each other ends where it would take long.
func TestManyParameters(t *testing.T) {
	t.Parallel()
	demo := newFixture(t).as("demo")
	var query strings.Builder
	for n := range maxParams + 1 {
		fmt.Fprintf(&query, "&p%d=", n)
	}
	refused(t, demo.ask("GET", "/order?"+query.String(), ""),
		fault{400, fmt.Sprintf("Invalid request, query parameter is not supported: p%d", maxParams), "query_parameter_unsupported", ""})
}

func TestParseID(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]int32{
		"1": 1, "2147483647": 1<<31 - 1, "2147483648": 0, "9999999999": 0, "12345678901": 0,
		"": 0, "0": 0, "01": 0, "-1": 0, "+1": 0, "1.0": 0, " 1": 0, "1e3": 0, "٣": 0,
	} {
		id, ok := parseID(s)
		require.Equal(t, want != 0, ok, s)
		if ok {
			require.Equal(t, want, id, s)
		}
	}
}
