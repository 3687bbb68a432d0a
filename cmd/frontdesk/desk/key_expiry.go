package desk

import (
	"time"

	"go.uber.org/zap"

	"frontdesk/config"
)

// noticeAhead is how many days ahead the end of an api_key is reported: in the log, by audit and
// on the status page.
const noticeAhead = 30

// EndsSoon reports whether an end is near enough to be reported.
func EndsSoon(end, now time.Time) bool { return end.Sub(now) <= noticeAhead*24*time.Hour }

// logKeyEnds logs which hashes of api_keys end soon, at the start and every day. Those that have ended
// are no news; frontdesk key list and frontdesk audit show them.
func logKeyEnds(keys []config.Key, now time.Time, log *zap.Logger) {
	for _, key := range keys {
		for _, hash := range key.Hashes {
			if end := key.EndOf(hash); !end.IsZero() && !end.Passed(now) && EndsSoon(end.Time, now) {
				log.Warn("api_key ends soon", zap.String("key", key.Name), zap.String("sha256", hash.Hash.Short()), zap.Time("expires", end.Time),
					zap.Int("of", len(key.Hashes)), zap.Int("days_left", int(end.Sub(now)/(24*time.Hour))))
			}
		}
	}
}
