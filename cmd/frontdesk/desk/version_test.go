package desk

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestStampOverGo: what deploy/build says of a tree stands over what Go recorded, which
// stands where the program was built otherwise.
func TestStampOverGo(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261123064054-426e58c6d1f0+dirty"}, Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "426e"}, {Key: "vcs.time", Value: "2026-11-23T06:40:54Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	for built, want := range map[string]BuildFacts{
		"":                                    {Version: "v0.0.0-20261123064054-426e58c6d1f0+dirty", Commit: "426e", Time: "2026-11-23T06:40:54Z", Modified: true},
		"v2.0.0 abcd 2026-12-01T00:00:00Z":    {Version: "v2.0.0", Commit: "abcd", Time: "2026-12-01T00:00:00Z"},
		"v2.0.0-dirty abcd 2026-12-01T00:00Z": {Version: "v2.0.0-dirty", Commit: "abcd", Time: "2026-12-01T00:00Z", Modified: true},
	} {
		var facts BuildFacts
		facts.record(info)
		facts.stamp(built)
		require.Equal(t, want, facts, built)
	}
	facts := BuildFacts{Version: "dev"}
	facts.record(&debug.BuildInfo{Main: debug.Module{Version: "(devel)"}})
	require.Equal(t, BuildFacts{Version: "dev"}, facts)
	facts.stamp("v0.0.0-unknown")
	require.Equal(t, BuildFacts{Version: "v0.0.0-unknown"}, facts)
}
