package gateway

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"
)

// TestAnsweredLeavesStreams: a result is not brought into memory for the sake of a
// line in the log.
func TestAnsweredLeavesStreams(t *testing.T) {
	x := &Exchange{response: new(fasthttp.Response)}
	x.response.SetBodyStream(strings.NewReader("a result"), 8)
	require.Equal(t, 8, x.answered())
	require.True(t, x.response.IsBodyStream())
	x.response.SetBodyString("an answer")
	require.Equal(t, 9, x.answered())
}
