package desk

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"frontdesk/backend/sqlrecord"
)

// NewReplicaMetrics exports how a replica answers lists.
func NewReplicaMetrics(of *sqlrecord.Replica) prometheus.Collector {
	used := newMetric("frontdesk_backend_replica_used", "1 while the replica answers lists where it is up to date, 0 while the primary answers all.")
	lists := newMetric("frontdesk_backend_replica_lists_total",
		"Lists by who answered, and why: the replica, or the primary since the replica was behind, busy (no connection free, or it broke the list off) or away.", "outcome")
	return newScraped(func(_ context.Context, v values) {
		v.set(used, oneIf(of.Fault() == nil))
		for outcome, n := range of.Lists() {
			v.set(lists, float64(n), string(outcome))
		}
	}, used, lists)
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
