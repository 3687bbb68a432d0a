package gateway

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUnchanged(t *testing.T) {
	const byVersion, byContent = `"aaaaaa-2.k3x"`, `"aaaaaa.00112233445566778899aabb"`
	for _, c := range []struct {
		list, etag string
		want       bool
	}{
		{`"aaaaaa-2.k3x"`, byVersion, true},
		{`"bbbbbb-2.k3x"`, byVersion, true}, // read under another model
		{`"x", "bbbbbb-2.k3x"`, byVersion, true},
		{`*`, byVersion, true},
		{`"aaaaaa-1.k3x"`, byVersion, false},
		{`"bbbbbb-2.k3y"`, byVersion, false},
		{`W/"aaaaaa-2.k3x"`, byVersion, false},
		{`W/aaaa-2.k3x"`, byVersion, false},
		{`-2.k3x"`, byVersion, false},
		{``, byVersion, false},
		{byContent, byContent, true},
		{`"bbbbbb.00112233445566778899aabb"`, byContent, false}, // which may be of other fields
	} {
		require.Equal(t, c.want, unchanged(c.list, c.etag), "%s of %s", c.list, c.etag)
	}
}
