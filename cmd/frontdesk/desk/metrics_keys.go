package desk

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// keyTimes exports when api_keys and their hashes end, and when the hashes were last used.
func keyTimes(h *Desk) prometheus.Collector {
	keyEnds := newMetric("frontdesk_key_expires_timestamp_seconds", "When an api_key expires, of those that do.", "key")
	ends := newMetric("frontdesk_key_hash_expires_timestamp_seconds", "When one of the hashes of an api_key expires, by its first digits, of those that do.", "key", "sha256")
	uses := newMetric("frontdesk_key_hash_last_used_timestamp_seconds", "When one of the hashes of an api_key was used last, by its first digits, at whatever gateway; not of those that never were.", "key", "sha256")
	return newScraped(func(_ context.Context, v values) {
		for _, key := range h.keys() {
			if end := endOf(key); !end.IsZero() {
				v.set(keyEnds, float64(end.Unix()), key.Name)
			}
			for _, hash := range key.Hashes {
				if end := key.EndOf(hash); !end.IsZero() {
					v.set(ends, float64(end.Unix()), key.Name, hash.Hash.Short())
				}
				if last := h.metrics.LastUse(hash.Hash); !last.IsZero() {
					v.set(uses, float64(last.Unix()), key.Name, hash.Hash.Short())
				}
			}
		}
	}, keyEnds, ends, uses)
}
