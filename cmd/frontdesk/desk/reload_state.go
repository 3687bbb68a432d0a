package desk

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// reloads is the outcome of the reloads so far. The zero value is that of none.
type reloads struct{ now atomic.Pointer[reloadState] }

// reloadState is what /readyz, metrics and the status page show of reloads.
type reloadState struct {
	count       uint64    // all reloads
	failures    uint64    // reloads that kept the configuration before
	last        time.Time // zero if there was no reload
	fault       error     // why the last reload failed; nil if it did not
	waiting     []string  // changed settings that need a restart
	parts       []string  // changes of the sheet and the model, which need one as well
	restart     error     // why a start with these files would fail; nil if it would not
	certificate error     // why the certificate's files cannot be used
	began       time.Time // since when the files are being read or polled; zero if they are not
}

func (r *reloads) state() reloadState {
	if now := r.now.Load(); now != nil {
		return *now
	}
	return reloadState{}
}

// note changes the state. Only the reloader calls it.
func (r *reloads) note(change func(*reloadState)) {
	now := r.state()
	change(&now)
	r.now.Store(&now)
}

// ended notes the end of a reload.
func (r *reloads) ended(fault error) {
	r.note(func(s *reloadState) {
		s.count++
		if fault != nil {
			s.failures++
		}
		s.last, s.fault = time.Now(), fault
	})
}

// needsRestart returns all changes that wait for a restart.
func (s reloadState) needsRestart() []string { return slices.Concat(s.waiting, s.parts) }

// FilesPatience is how long the files of the configuration may take to answer.
const FilesPatience = 12 * time.Second

// hangs returns since when the files have not answered, if that is longer than FilesPatience; else
// zero.
func (s reloadState) hangs(now time.Time) time.Time {
	if s.began.IsZero() || now.Sub(s.began) < FilesPatience {
		return time.Time{}
	}
	return s.began
}

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
		v.set(success, oneIf(state.fault == nil && state.restart == nil && state.hangs(h.now()).IsZero()))
		v.set(at, float64(h.live.Load().since.UnixMilli())/1000)
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
