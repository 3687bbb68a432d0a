package desk

import (
	"github.com/prometheus/client_golang/prometheus"
)

// keyEnds exports when api_keys end, and each of their hashes.
type keyEnds struct{ of *Desk }

func keyEndDescs() (keys, hashes *prometheus.Desc) {
	return prometheus.NewDesc("frontdesk_key_expires_timestamp_seconds", "When an api_key expires, of those that do.", []string{"key"}, nil),
		prometheus.NewDesc("frontdesk_key_hash_expires_timestamp_seconds", "When one of the hashes of an api_key expires, by its first digits, of those that do.", []string{"key", "sha256"}, nil)
}

func (k keyEnds) Describe(out chan<- *prometheus.Desc) {
	keys, hashes := keyEndDescs()
	out <- keys
	out <- hashes
}

func (k keyEnds) Collect(out chan<- prometheus.Metric) {
	keys, hashes := keyEndDescs()
	for _, key := range k.of.keys() {
		if end := endOf(key); !end.IsZero() {
			out <- prometheus.MustNewConstMetric(keys, prometheus.GaugeValue, float64(end.Unix()), key.Name)
		}
		for _, hash := range key.Hashes {
			if end := soonest(key.Expires, hash.Expires); !end.IsZero() {
				out <- prometheus.MustNewConstMetric(hashes, prometheus.GaugeValue, float64(end.Unix()), key.Name, hash.Hash.Short())
			}
		}
	}
}

// keyUses exports when the hashes of api_keys were used last.
type keyUses struct{ of *Desk }

func keyUseDesc() *prometheus.Desc {
	return prometheus.NewDesc("frontdesk_key_hash_last_used_timestamp_seconds", "When one of the hashes of an api_key was used last, by its first digits, at whatever gateway; not of those that never were.", []string{"key", "sha256"}, nil)
}

func (k keyUses) Describe(out chan<- *prometheus.Desc) { out <- keyUseDesc() }

func (k keyUses) Collect(out chan<- prometheus.Metric) {
	desc := keyUseDesc()
	for _, key := range k.of.keys() {
		for _, hash := range key.Hashes {
			if last := k.of.metrics.lastUse(hash.Hash); !last.IsZero() {
				out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(last.Unix()), key.Name, hash.Hash.Short())
			}
		}
	}
}
