package desk

import (
	"github.com/prometheus/client_golang/prometheus"
)

// reloadMetrics export the outcome of reloads.
type reloadMetrics struct {
	of                                             *Desk
	reloads, failures, success, at, restart, until *prometheus.Desc
}

// NewReloadMetrics exports the outcome of reloads, and the certificate in use.
func NewReloadMetrics(h *Desk) prometheus.Collector {
	desc := func(name, help string) *prometheus.Desc { return prometheus.NewDesc(name, help, nil, nil) }
	return reloadMetrics{
		of:       h,
		reloads:  desc("frontdesk_config_reloads_total", "Times that the configuration was read again, whatever became of it."),
		failures: desc("frontdesk_config_reload_failures_total", "Reloads that kept the configuration before, for what is wrong with the new one."),
		success:  desc("frontdesk_config_last_reload_success", "1 where what the files say is in force, or waits for a restart that can use it; 0 where an older configuration is in force, or a restart would fail."),
		at:       desc("frontdesk_config_loaded_timestamp_seconds", "When the configuration in force was loaded."),
		restart:  desc("frontdesk_config_needs_restart", "1 where the files say something that is not used before a restart."),
		until:    desc("frontdesk_certificate_expires_timestamp_seconds", "When the server's certificate expires; only with TLS."),
	}
}

func (m reloadMetrics) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.reloads, m.failures, m.success, m.at, m.restart, m.until} {
		out <- d
	}
}

func (m reloadMetrics) Collect(out chan<- prometheus.Metric) {
	state := m.of.reloads.state()
	gauge := func(d *prometheus.Desc, v float64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
	out <- prometheus.MustNewConstMetric(m.reloads, prometheus.CounterValue, float64(state.count))
	out <- prometheus.MustNewConstMetric(m.failures, prometheus.CounterValue, float64(state.failures))
	gauge(m.success, oneIf(state.asWritten() && state.hangs(m.of.now()).IsZero()))
	gauge(m.at, float64(m.of.live.Current().since.UnixMilli())/1000)
	gauge(m.restart, oneIf(len(state.needsRestart()) > 0))
	if m.of.certificates != nil {
		gauge(m.until, float64(m.of.certificates.current.Load().until.Unix()))
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
