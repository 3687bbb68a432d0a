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

// TestListsArePartedBeforeTheyAreDecoded: %2C is a comma within a value, in the address of
// the next page and in a stored request too.
func TestListsArePartedBeforeTheyAreDecoded(t *testing.T) {
	t.Parallel()
	params := appendParams(nil, []byte("name[in]=a%2Cb,c+d,,%25&name=a,b"))
	require.Equal(t, []string{"a,b", "c d", "", "%"}, params[0].list())
	require.Equal(t, "name%5Bin%5D=a%2Cb,c+d,,%25&name=a%2Cb", encodeParams(params))
	require.Equal(t, params[0].list(), appendParams(nil, []byte(encodeParams(params)))[0].list())
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
