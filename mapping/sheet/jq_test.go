package sheet_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"frontdesk/mapping/sheet"
)

// TestJQNumbers: numbers come out as they went in, as long as nothing is computed with them.
func TestJQNumbers(t *testing.T) {
	var in any
	d := json.NewDecoder(bytes.NewReader([]byte(`{"a": 12345678901234567890.1234, "b": 0.10}`)))
	d.UseNumber()
	require.NoError(t, d.Decode(&in))
	q, err := sheet.NewJQ("def half: . / 2;", `{x: .a, y: [.b], z: (.b | half)}`)
	require.NoError(t, err)
	out, err := q.First(t.Context(), in)
	require.NoError(t, err)
	text, err := json.Marshal(out)
	require.NoError(t, err)
	assert.Equal(t, `{"x":12345678901234567890.1234,"y":[0.10],"z":0.05}`, string(text))
}
