package mapping_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping"
)

// TestPosition tells where a body is not JSON, in lines and characters.
func TestPosition(t *testing.T) {
	order := resource(t, "order")
	for body, want := range map[string]mapping.Position{
		"[]":                              {Line: 1, Column: 1},
		"  \n\t reference=x":              {Line: 2, Column: 3},
		`{"reference":"x",}`:              {Line: 1, Column: 17},
		"{\n  \"reference\": \"é\",\n}":   {Line: 2, Column: 19},
		"{\"reference\":\r\n\"é\" x}":     {Line: 2, Column: 5},
		`{"reference":"x"`:                {Line: 1, Column: 17},
		`{"reference":"x","reference":1}`: {Line: 1, Column: 18},
		"{}\n{}":                          {Line: 2, Column: 1},
		"{} \x00":                         {Line: 1, Column: 4},
		"{\"mileage\":01}":                {Line: 1, Column: 13},
		"{\n\"x\":" + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}":              {Line: 2, Column: 5 + mapping.MaxDepth - 1},
		`{"orderlines":[{"x":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "}]}": {Line: 1, Column: 21 + mapping.MaxDepth - 3},
	} {
		_, err := mapping.DecodeBody(order, []byte(body), amsterdam(t))
		v, _ := mapping.AsViolations(err)
		require.Len(t, v, 1, body)
		require.Equal(t, mapping.BodyNotJSON, v[0].Reason, body)
		assert.Equal(t, want, v[0].Position, body)
	}
	deep := strings.Repeat("[", mapping.MaxDepth) + strings.Repeat("]", mapping.MaxDepth)
	for body, column := range map[string]int{`{"records":[{"x":` + deep + `}]}`: 18 + mapping.MaxDepth - 3, `{"x":` + deep + `}`: 6 + mapping.MaxDepth - 1, `{"records":` + deep + `}`: 12 + mapping.MaxDepth - 1} {
		_, err := mapping.DecodeSeveral([]byte(body), "")
		v, _ := mapping.AsViolations(err)
		require.Len(t, v, 1, body)
		require.Equal(t, mapping.BodyNotJSON, v[0].Reason, body)
		assert.Equal(t, mapping.Position{Line: 1, Column: column}, v[0].Position, body)
	}
	_, _, err := mapping.CutMember([]byte("{\"webhook_url\":\"a\",\n\"b\":}"), "webhook_url")
	v, _ := mapping.AsViolations(err)
	require.Equal(t, mapping.Position{Line: 2, Column: 5}, v[0].Position)
}
