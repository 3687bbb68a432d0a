package desk

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"frontdesk/backend/follow"
)

// ChangesScans exports how the changes of a mapped system are looked for, as the gateway's own
// database has it.
func ChangesScans(of func(context.Context) ([]follow.Scan, error)) prometheus.Collector {
	scan := func(name, help string) metric { return newMetric("frontdesk_changes_scan_"+name, help, "resource") }
	records := scan("records_total", "Records that this gateway has read of a mapped system to find those that have changed.")
	failures := scan("failures_total", "Pages of such records that could not be read or noted; it is tried again.")
	clients := scan("clients", "Clients that follow the changes of a resource.")
	age := scan("age_seconds", "How long ago the last look at a resource ended, of the client for which that is the longest.")
	rate := scan("rate", "Records a second that are read at most for each client that follows a resource, as the sheet says (changes: pause, page, rate).")
	return newScraped(func(ctx context.Context, v values) {
		scans, err := of(ctx)
		if err != nil {
			return
		}
		for _, s := range scans {
			v.set(records, float64(s.Records), s.Resource)
			v.set(failures, float64(s.Failures), s.Resource)
			v.set(clients, float64(s.Clients), s.Resource)
			v.set(rate, s.Rate, s.Resource)
			if s.Clients > 0 {
				v.set(age, s.Age.Seconds(), s.Resource)
			}
		}
	}, records, failures, clients, age, rate)
}
