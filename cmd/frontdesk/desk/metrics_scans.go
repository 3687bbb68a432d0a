package desk

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"

	"frontdesk/backend/follow"
)

// ChangesScans exports how the changes of a mapped system are looked for.
type ChangesScans func(context.Context) ([]follow.Scan, error)

func scanDescs() (records, failures, clients, age, rate *prometheus.Desc) {
	of := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("frontdesk_changes_scan_"+name, help, []string{"resource"}, nil)
	}
	return of("records_total", "Records that this gateway has read of a mapped system to find those that have changed."),
		of("failures_total", "Pages of such records that could not be read or noted; it is tried again."),
		of("clients", "Clients that follow the changes of a resource."),
		of("age_seconds", "How long ago the last look at a resource ended, of the client for which that is the longest."),
		of("rate", "Records a second that are read at most for each client that follows a resource, as the sheet says (changes: pause, page, rate).")
}

func (c ChangesScans) Describe(out chan<- *prometheus.Desc) {
	records, failures, clients, age, rate := scanDescs()
	out <- records
	out <- failures
	out <- clients
	out <- age
	out <- rate
}

// Collect leaves the numbers out where the gateway's own database does not tell them.
func (c ChangesScans) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	scans, err := c(ctx)
	if err != nil {
		return
	}
	records, failures, clients, age, rate := scanDescs()
	for _, s := range scans {
		out <- prometheus.MustNewConstMetric(records, prometheus.CounterValue, float64(s.Records), s.Resource)
		out <- prometheus.MustNewConstMetric(failures, prometheus.CounterValue, float64(s.Failures), s.Resource)
		out <- prometheus.MustNewConstMetric(clients, prometheus.GaugeValue, float64(s.Clients), s.Resource)
		out <- prometheus.MustNewConstMetric(rate, prometheus.GaugeValue, s.Rate, s.Resource)
		if s.Clients > 0 {
			out <- prometheus.MustNewConstMetric(age, prometheus.GaugeValue, s.Age.Seconds(), s.Resource)
		}
	}
}
