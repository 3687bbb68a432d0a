package desk

import (
	"time"

	"go.uber.org/zap"

	"frontdesk/config"
)

// noticeAhead is how many days ahead the end of an api_key is reported: in the log, by audit and
// on the status page.
const noticeAhead = 30

// noticeDays are how many days ahead the log says that an api_key ends.
var noticeDays = [...]int{noticeAhead, 14, 7, 3, 1, 0}

// EndsSoon reports whether an end is near enough to be reported.
func EndsSoon(end, now time.Time) bool { return end.Sub(now) <= noticeAhead*24*time.Hour }

// expiryWatch says in the log that api_keys are about to end: at start, and then
// whenever one of noticeDays is reached.
type expiryWatch struct {
	keys func() []config.Key // as they are configured now
	now  func() time.Time
	log  *zap.Logger
	said map[config.Digest]said // of each hash
}

// said is the last notice that was given: about which end, and how many days ahead.
type said struct {
	end  time.Time
	days int
}

// newExpiryWatch returns a watch that has said nothing yet.
func newExpiryWatch(keys func() []config.Key, now func() time.Time, log *zap.Logger) *expiryWatch {
	return &expiryWatch{keys: keys, now: now, log: log, said: make(map[config.Digest]said)}
}

// look gives the notices that are due. What ended before it was ever looked at is
// not news; frontdesk key list and frontdesk audit tell it.
func (w *expiryWatch) look() {
	now := w.now()
	given := make(map[config.Digest]said, len(w.said))
	for _, key := range w.keys() {
		for _, hash := range key.Hashes {
			end := key.EndOf(hash)
			days, due := notice(end, now)
			if !due {
				continue
			}
			before, told := w.said[hash.Hash]
			told = told && before.end.Equal(end.Time)
			given[hash.Hash] = said{end.Time, days}
			if told && days < before.days || !told && days > 0 {
				w.say(key, hash, end, days)
			}
		}
	}
	w.said = given
}

func (w *expiryWatch) say(key config.Key, hash config.KeyHash, end config.Expiry, days int) {
	fields := []zap.Field{zap.String("key", key.Name), zap.String("sha256", hash.Hash.Short()), zap.Time("expires", end.Time), zap.Int("of", len(key.Hashes))}
	if days == 0 {
		w.log.Warn("api_key has ended", fields...)
		return
	}
	w.log.Warn("api_key ends soon", append(fields, zap.Int("days_left", int(end.Sub(w.now())/(24*time.Hour))))...)
}

// notice is the smallest of noticeDays that is reached; due is false where the
// end is farther away than the first of them.
func notice(end config.Expiry, now time.Time) (days int, due bool) {
	if end.IsZero() {
		return 0, false
	}
	left := end.Sub(now)
	for _, n := range noticeDays {
		if left > time.Duration(n)*24*time.Hour {
			break
		}
		days, due = n, true
	}
	return days, due
}
