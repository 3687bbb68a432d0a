package desk

import (
	"context"
	"maps"
	"runtime/debug"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/cmd/frontdesk/history"
	"frontdesk/gateway"
)

// metrics are what /metrics exports. Labels are names of the model, of the interface and of the
// configuration, never values that a client sent, so that the number of series is bounded.
// Counters that requests use are looked up once and kept.
type metrics struct {
	since    time.Time // when counting began
	registry *prometheus.Registry
	requests *prometheus.HistogramVec
	records  *prometheus.CounterVec
	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	logins   *prometheus.CounterVec
	called   lazyMap[backendCall, callMeters]
	refused  lazyMap[refusal, eventCounter]
	aged     lazyMap[deprecatedUse, eventCounter]
	used     lazyMap[[32]byte, eventCounter]                 // requests with each hash of an api_key here, and when it was used last, at whatever gateway
	opened   lazyMap[string, atomic.Pointer[circuitOpening]] // by what a circuit guards
}

var _ gateway.Meter = (*metrics)(nil)

// refusal is the key by which refused requests are counted.
type refusal struct{ key, reason string }

// deprecatedUse is the key by which requests are counted that have to do with something that
// is going away.
type deprecatedUse struct {
	key, what string
	named     bool
}

// eventCounter counts, and keeps when it did last.
type eventCounter struct{ count, last atomic.Int64 } // last in Unix seconds

func (t *eventCounter) add() {
	t.count.Add(1)
	t.last.Store(time.Now().Unix())
}

func newMetrics() *metrics {
	m := &metrics{
		since:    time.Now(),
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "frontdesk_request_duration_seconds",
			Help:    "How long requests took, by the endpoint as it is documented and the status answered; without an endpoint for those that found none.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"method", "endpoint", "status"}),
		records: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "frontdesk_bulk_records_total",
			Help: "Records of requests that write many at once, by the endpoint and by what a request for each alone would have been answered.",
		}, []string{"method", "endpoint", "status"}),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "frontdesk_backend_calls_total",
			Help: "Calls of the backend by how they ended: answered (refusals too), unexpected, failed, timeout, cancelled, busy (no room), circuit (open) or kept (under an idempotency key, without asking).",
		}, []string{"resource", "operation", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "frontdesk_backend_call_seconds",
			Help:    "How long calls of the backend took, the wait for room included.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"resource", "operation"}),
		logins: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "frontdesk_logins_total",
			Help: "Tries to log in by how they ended: done, wrong (api_key, username or password), throttled, busy (too many others at once), refused (a user who may not) or failed.",
		}, []string{"outcome"}),
	}
	m.registry.MustRegister(m.requests, m.records, m.calls, m.seconds, m.logins,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo())
	for _, outcome := range auth.LoginOutcomes() {
		m.logins.WithLabelValues(string(outcome)) // from 0, so that a rate sees the first one
	}
	return m
}

func buildInfo() prometheus.Collector {
	goVersion := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		goVersion = info.GoVersion
	}
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "frontdesk_build_info", Help: "Which frontdesk this is, and the Go that built it; always 1.",
		ConstLabels: prometheus.Labels{"version": Version(), "goversion": goVersion},
	}, func() float64 { return 1 })
}

// Timer implements gateway.Meter.
func (m *metrics) Timer(method, endpoint string, status int) gateway.Timer {
	return m.requests.WithLabelValues(method, endpoint, strconv.Itoa(status))
}

// Wrote implements gateway.Meter.
func (m *metrics) Wrote(method, endpoint string, status, records int) {
	m.records.WithLabelValues(method, endpoint, strconv.Itoa(status)).Add(float64(records))
}

// Refused implements gateway.Meter.
func (m *metrics) Refused(key, reason string) {
	m.refused.of(refusal{key, reason}, func() *eventCounter { return new(eventCounter) }).add()
}

// Deprecated implements gateway.Meter.
func (m *metrics) Deprecated(key, what string, named bool) {
	m.aged.of(deprecatedUse{key, what, named}, func() *eventCounter { return new(eventCounter) }).add()
}

// countLogin counts a login by its outcome.
func (m *metrics) countLogin(o auth.LoginOutcome) { m.logins.WithLabelValues(string(o)).Inc() }

// backendCall is the key by which calls of the backend are counted.
type backendCall struct{ resource, operation string }

// callMeters are those of one kind of call; the counters by outcome, each from
// its first one on.
type callMeters struct {
	seconds  prometheus.Observer
	outcomes [len(outcomes)]atomic.Pointer[prometheus.Counter]
	slowest  slowest
}

var outcomes = [...]backend.Outcome{
	backend.Answered, backend.Unexpected, backend.Failed, backend.TimedOut, backend.Cancelled, backend.Busy, backend.Open, backend.Kept, backend.OwnStore,
}

// observeCall counts a call of the backend, and adds its time to the line of its request in the
// access log.
func (m *metrics) observeCall(ctx context.Context, c backend.Call) {
	gateway.NoteBackend(ctx, c.Took)
	meters := m.called.of(backendCall{c.Resource, c.Operation}, func() *callMeters {
		return &callMeters{seconds: m.seconds.WithLabelValues(c.Resource, c.Operation)}
	})
	meters.seconds.Observe(c.Took.Seconds())
	place := 0
	for place < len(outcomes)-1 && outcomes[place] != c.Outcome {
		place++
	}
	counter := meters.outcomes[place].Load()
	if counter == nil {
		fresh := m.calls.WithLabelValues(c.Resource, c.Operation, string(c.Outcome))
		counter = &fresh
		meters.outcomes[place].Store(counter)
	}
	(*counter).Inc()
	meters.slowest.note(ctx, &c)
	if c.Opened {
		m.opened.of(c.Lane, func() *atomic.Pointer[circuitOpening] { return new(atomic.Pointer[circuitOpening]) }).Store(&circuitOpening{At: time.Now(), Operation: c.Operation, Outcome: c.Outcome, RequestID: gateway.RequestIDOf(ctx)})
	}
}

// fateOf is how the history counts an outcome.
func fateOf(o backend.Outcome) history.Fate {
	switch o {
	case backend.Busy, backend.Open:
		return history.Refused
	case backend.Failed, backend.TimedOut, backend.Unexpected, backend.OwnStore:
		return history.Failed
	default:
		return history.Good
	}
}

// keepKeys drops the counts of removed api_keys.
func (m *metrics) keepKeys(known func(name string) bool) {
	m.refused.forget(func(r refusal) bool { return r.key != "" && !known(r.key) })
	m.aged.forget(func(u deprecatedUse) bool { return !known(u.key) })
}

// keyCounters exports the counts of the present api_keys.
func keyCounters(m *metrics, live *atomic.Pointer[snapshot]) prometheus.Collector {
	refusals := newMetric("frontdesk_refusals_total",
		"Requests that were answered with an error, by the name of the api_key (empty where none is known) and the reason.", "key", "reason")
	deprecated := newMetric("frontdesk_deprecated_total",
		"Requests that have to do with something that the model marks as deprecated, by how: named (by the request) or answered (only part of the answer).", "key", "what", "how")
	seen := new(atomic.Pointer[snapshot]) // whose api_keys are those that are counted by
	return newScraped(func(_ context.Context, v values) {
		if now := live.Load(); seen.Swap(now) != now {
			names := map[string]bool{}
			for _, key := range now.config.APIKeys {
				names[key.Name] = true
			}
			m.keepKeys(func(name string) bool { return names[name] })
		}
		for r, n := range m.refused.all() {
			v.set(refusals, float64(n.count.Load()), r.key, r.reason)
		}
		for u, n := range m.aged.all() {
			how := "answered"
			if u.named {
				how = "named"
			}
			v.set(deprecated, float64(n.count.Load()), u.key, u.what, how)
		}
	}, refusals, deprecated)
}

// lazyMap keeps one thing for each of a bounded number of keys. Finding one takes
// no lock and allocates nothing.
type lazyMap[K comparable, V any] struct {
	mu   sync.Mutex // held to add or forget
	kept atomic.Pointer[map[K]*V]
}

// all returns the current map; it must not be changed.
func (t *lazyMap[K, V]) all() map[K]*V {
	if kept := t.kept.Load(); kept != nil {
		return *kept
	}
	return nil
}

// of returns the value of a key, and adds it if it is missing.
func (t *lazyMap[K, V]) of(k K, make func() *V) *V {
	if v := t.all()[k]; v != nil {
		return v
	}
	return t.add(make, k)[k]
}

// add adds the values that some keys lack, by one copy of the map, and returns the new
// map.
func (t *lazyMap[K, V]) add(make func() *V, keys ...K) map[K]*V {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := t.all()
	missing := slices.DeleteFunc(keys, func(k K) bool { return all[k] != nil })
	if len(missing) == 0 {
		return all
	}
	next := map[K]*V{}
	maps.Copy(next, all)
	for _, k := range missing {
		next[k] = make()
	}
	t.kept.Store(&next)
	return next
}

// forget drops the values of removed keys.
func (t *lazyMap[K, V]) forget(gone func(K) bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	next := maps.Clone(t.all())
	maps.DeleteFunc(next, func(k K, _ *V) bool { return gone(k) })
	t.kept.Store(&next)
}
