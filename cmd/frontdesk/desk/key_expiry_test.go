package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"

	"frontdesk/config"
)

// TestExpiryWatch turns the clock: each notice comes once, and a key that was
// given a later end begins anew.
func TestExpiryWatch(t *testing.T) {
	core, logs := observer.New(zap.WarnLevel)
	start := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	now, keys := start, []config.Key{{
		Name: "webshop", Expires: config.Expiry{Time: start.AddDate(0, 0, 40)},
		Hashes: []config.KeyHash{{Hash: config.Digest{1}}},
	}, {Name: "gone", Expires: config.Expiry{Time: start.AddDate(0, 0, -1)}, Hashes: []config.KeyHash{{Hash: config.Digest{2}}}}}
	watch := newExpiryWatch(func() []config.Key { return keys }, func() time.Time { return now }, zap.New(core))
	days := func() (got []int) {
		for ; now.Before(start.AddDate(0, 0, 45)); now = now.Add(6 * time.Hour) {
			watch.look()
			for _, entry := range logs.TakeAll() {
				assert.Equal(t, "webshop", entry.ContextMap()["key"])
				got = append(got, int(now.Sub(start)/(24*time.Hour)))
			}
		}
		return got
	}
	assert.Equal(t, []int{10, 26, 33, 37, 39, 40}, days(), "30, 14, 7, 3 and 1 days before, and at the end")
	start = now
	keys[0].Expires = config.Expiry{Time: start.AddDate(0, 0, 20)}
	assert.Equal(t, []int{0, 6, 13, 17, 19, 20}, days(), "at once, as it is within 30 days")
}
