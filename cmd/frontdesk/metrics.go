package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"frontdesk/backend"
	"frontdesk/gateway"
)

// metrics are what /metrics tells. Labels are names of the model and of the
// interface, never what a client sent.
type metrics struct {
	registry *prometheus.Registry
	calls    *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "frontdesk_backend_calls_total",
			Help: "Calls of the backend by how they ended: answered (refusals too), unexpected, failed, timeout, cancelled, busy (no room) or circuit (open).",
		}, []string{"resource", "operation", "outcome"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "frontdesk_backend_call_seconds",
			Help:    "How long calls of the backend took, the wait for room included.",
			Buckets: []float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10},
		}, []string{"resource", "operation"}),
	}
	m.registry.MustRegister(m.calls, m.seconds)
	return m
}

// observe counts a call of the backend.
func (m *metrics) observe(c backend.Call) {
	m.calls.WithLabelValues(c.Resource, c.Operation, string(c.Outcome)).Inc()
	m.seconds.WithLabelValues(c.Resource, c.Operation).Observe(c.Took.Seconds())
}

// watch adds what is read off the parts themselves at every scrape.
func (m *metrics) watch(g *gateway.Gateway, c *backend.Client) {
	m.registry.MustRegister(slowAnswers{g}, newBackendState(c))
}

// slowAnswers exports how many direct answers took longer than 500 ms.
type slowAnswers struct{ of *gateway.Gateway }

func slowAnswersDesc() *prometheus.Desc {
	return prometheus.NewDesc("frontdesk_slow_answers_total",
		"Direct answers that took longer than 500 ms, by endpoint: those worth a place under callbacks.", []string{"method", "endpoint"}, nil)
}

func (s slowAnswers) Describe(out chan<- *prometheus.Desc) { out <- slowAnswersDesc() }

func (s slowAnswers) Collect(out chan<- prometheus.Metric) {
	desc := slowAnswersDesc()
	for grant, n := range s.of.SlowAnswers() {
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(n), grant.Method, grant.Path)
	}
}

// backendState exports the circuits and the room that is taken.
type backendState struct {
	of                        *backend.Client
	circuit, running, waiting *prometheus.Desc
}

func newBackendState(c *backend.Client) backendState {
	return backendState{
		of: c,
		circuit: prometheus.NewDesc("frontdesk_backend_circuit_state",
			"State of the circuit breaker of a resource: 0 closed, 1 half-open, 2 open.", []string{"resource"}, nil),
		running: prometheus.NewDesc("frontdesk_backend_calls_running", "Calls of the backend that are under way.", nil, nil),
		waiting: prometheus.NewDesc("frontdesk_backend_calls_waiting", "Calls that wait for room at the backend.", nil, nil),
	}
}

func (s backendState) Describe(out chan<- *prometheus.Desc) {
	out <- s.circuit
	out <- s.running
	out <- s.waiting
}

func (s backendState) Collect(out chan<- prometheus.Metric) {
	level := map[string]float64{"closed": 0, "half-open": 1, "open": 2}
	for resource, state := range s.of.States() {
		out <- prometheus.MustNewConstMetric(s.circuit, prometheus.GaugeValue, level[state], resource)
	}
	running, waiting := s.of.Load()
	out <- prometheus.MustNewConstMetric(s.running, prometheus.GaugeValue, float64(running))
	out <- prometheus.MustNewConstMetric(s.waiting, prometheus.GaugeValue, float64(waiting))
}
