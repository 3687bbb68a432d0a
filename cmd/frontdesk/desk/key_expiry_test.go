package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/config"
)

// TestLogKeyEnds: a key is told from 30 days before its end until it has come.
func TestLogKeyEnds(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	start := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	keys := []config.Key{
		{Name: "webshop", Expires: config.Expiry{Time: start.AddDate(0, 0, 40)}, Hashes: []config.KeyHash{{Hash: config.Digest{1}}}},
		{Name: "gone", Expires: config.Expiry{Time: start.AddDate(0, 0, -1)}, Hashes: []config.KeyHash{{Hash: config.Digest{2}}}},
		{Name: "stays", Hashes: []config.KeyHash{{Hash: config.Digest{3}}}},
	}
	for day := range 45 {
		logKeyEnds(keys, start.AddDate(0, 0, day), zap.New(core))
		told := logs.TakeAll()
		if day < 10 || day >= 40 {
			require.Empty(t, told, day)
			continue
		}
		require.Len(t, told, 1, day)
		require.Equal(t, "webshop", told[0].ContextMap()["key"])
		require.EqualValues(t, 40-day, told[0].ContextMap()["days_left"])
	}
}
