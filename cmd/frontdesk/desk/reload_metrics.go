package desk

import (
	"context"

	"github.com/prometheus/client_golang/prometheus"
)

// NewReloadMetrics exports the outcome of reloads, and the certificate in use.
func NewReloadMetrics(h *Desk) prometheus.Collector {
	reloads := newMetric("frontdesk_config_reloads_total", "Times that the configuration was read again, whatever became of it.")
	failures := newMetric("frontdesk_config_reload_failures_total", "Reloads that kept the configuration before, for what is wrong with the new one.")
	success := newMetric("frontdesk_config_last_reload_success", "1 where what the files say is in force, or waits for a restart that can use it; 0 where an older configuration is in force, or a restart would fail.")
	at := newMetric("frontdesk_config_loaded_timestamp_seconds", "When the configuration in force was loaded.")
	restart := newMetric("frontdesk_config_needs_restart", "1 where the files say something that is not used before a restart.")
	until := newMetric("frontdesk_certificate_expires_timestamp_seconds", "When the server's certificate expires; only with TLS.")
	return newScraped(func(_ context.Context, v values) {
		state := h.reloads.state()
		v.set(reloads, float64(state.count))
		v.set(failures, float64(state.failures))
		v.set(success, oneIf(state.asWritten() && state.hangs(h.now()).IsZero()))
		v.set(at, float64(h.live.Current().since.UnixMilli())/1000)
		v.set(restart, oneIf(len(state.needsRestart()) > 0))
		if h.certificates != nil {
			v.set(until, float64(h.certificates.current.Load().until.Unix()))
		}
	}, reloads, failures, success, at, restart, until)
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
