package desk

import (
	"github.com/prometheus/client_golang/prometheus"

	"frontdesk/backend/sqlrecord"
)

// replicaMetrics export how a replica answers lists.
type replicaMetrics struct {
	of          *sqlrecord.Replica
	used, lists *prometheus.Desc
}

// NewReplicaMetrics tells of the replica for lists.
func NewReplicaMetrics(of *sqlrecord.Replica) prometheus.Collector {
	return replicaMetrics{
		of:   of,
		used: prometheus.NewDesc("frontdesk_backend_replica_used", "1 while the replica answers lists where it is up to date, 0 while the primary answers all.", nil, nil),
		lists: prometheus.NewDesc("frontdesk_backend_replica_lists_total",
			"Lists by who answered, and why: the replica, or the primary since the replica was behind, busy (no connection free, or it broke the list off) or away.",
			[]string{"outcome"}, nil),
	}
}

func (m replicaMetrics) Describe(out chan<- *prometheus.Desc) {
	out <- m.used
	out <- m.lists
}

func (m replicaMetrics) Collect(out chan<- prometheus.Metric) {
	out <- prometheus.MustNewConstMetric(m.used, prometheus.GaugeValue, oneIf(m.of.Fault() == nil))
	for outcome, n := range m.of.Lists() {
		out <- prometheus.MustNewConstMetric(m.lists, prometheus.CounterValue, float64(n), string(outcome))
	}
}

// replicaHealth returns the state of the replica; "" if there is none.
func (h *Desk) replicaHealth() string {
	switch {
	case h.system.replica == nil:
		return ""
	case h.system.replica.Fault() != nil:
		return healthUnavailable
	default:
		return HealthOK
	}
}
