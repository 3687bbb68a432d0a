package desk

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"frontdesk/backend"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook"
)

// This file exports what is read from the parts at every scrape.

// watch exports the state of the gateway and the backend.
func (m *metrics) watch(g *gateway.Gateway, c *backend.Client) {
	m.registry.MustRegister(slowAnswers{g}, newBackendState(c))
}

// watch exports the state of the desk.
func (h *Desk) watch() {
	m := h.metrics
	m.watch(h.Gateway, h.client)
	gauge := func(name, help string, read func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
	}
	gauge("frontdesk_connections_open", "Connections of clients that are open.", func() float64 { return float64(h.server.Connections()) })
	m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "frontdesk_connections_refused_total", Help: "Connections of clients that were refused because there were as many as there may be (server.connections).",
	}, func() float64 { return float64(h.server.RefusedConnections()) }))
	gauge("frontdesk_body_memory_used_bytes", "Memory set aside for the bodies under way that are over 16 KiB, and the answers over 256 KiB.", func() float64 {
		taken, _, _ := h.server.Bodies()
		return float64(taken)
	})
	gauge("frontdesk_body_memory_limit_bytes", "Memory that bodies and answers may take (server.body_memory).", func() float64 {
		_, most, _ := h.server.Bodies()
		return float64(most)
	})
	gauge("frontdesk_bodies_waiting", "Bodies that are not read on before there is memory for them.", func() float64 {
		_, _, waiting := h.server.Bodies()
		return float64(waiting)
	})
	if count := h.common.count; count != nil {
		gauge("frontdesk_sessions", "Sessions that are kept in memory; those that expired count for at most a minute longer.",
			func() float64 { return float64(count()) })
	}
	gauge("frontdesk_passwords_running", "Passwords that are being computed: two at most.", func() float64 {
		return float64(h.logins.hasher.Running())
	})
	gauge("frontdesk_passwords_waiting", "Logins that wait for their turn to be verified.", func() float64 { return float64(h.logins.queue.Waiting()) })
	if p, ok := h.system.driver.(backend.Pooler); ok {
		gauge("frontdesk_backend_pool_in_use", "Connections to the administration that are at work; of SQLite those that read.",
			func() float64 { return float64(p.Pool().InUse) })
		gauge("frontdesk_backend_pool_limit", "Connections to the administration there may be.", func() float64 { return float64(p.Pool().Most) })
	}
	if h.system.untilLag != nil {
		m.registry.MustRegister(UntilLag(h.system.untilLag))
	}
	if h.system.changes != nil {
		m.registry.MustRegister(h.system.changes)
	}
	if h.system.follower != nil {
		m.registry.MustRegister(ChangesScans(h.system.follower.Scans))
	}
	if h.system.replica != nil {
		m.registry.MustRegister(NewReplicaMetrics(h.system.replica))
	}
	m.registry.MustRegister(DiskRoom(h.looks.disks))
	if h.drift != nil {
		m.registry.MustRegister(GatewayDrift(h.drift.differ))
	}
	if h.common.ready != nil {
		m.registry.MustRegister(SessionStore(h.sessionsHealth))
	}
	m.registry.MustRegister(callbackStates{h.counts, h.pending}, callbackRoom{h.room}, keyEnds{h}, keyUses{h}, &keyCounters{of: m, live: h.live})
	h.watchLog()
	if h.tracing != nil {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "frontdesk_trace_export_failures_total", Help: "Batches of spans that could not be sent, and are lost.",
		}, func() float64 { return float64(h.tracing.failures.Load()) }))
	}
}

// watchLog exports how many lines of the log were dropped.
func (h *Desk) watchLog() {
	w := h.logs.lines
	if w == nil {
		return
	}
	for kind := range w.dropped {
		h.metrics.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "frontdesk_log_lines_dropped_total", Help: "Lines of the log that were dropped because whoever reads it did not take them in time: access, app (all others) or audit.",
			ConstLabels: prometheus.Labels{"stream": logKindNames[kind]},
		}, func() float64 { return float64(w.dropped[kind].Load()) }))
	}
}

// countsLife is how long counted numbers are used before they are counted again.
const countsLife = 10 * time.Second

// cached counts something in the database, but not at every scrape.
type cached[T any] struct {
	count func(context.Context) (T, error)
	clock func() time.Time

	turn  chan struct{} // has one place: of who reads and counts
	at    time.Time
	known T
	err   error
}

func newCached[T any](count func(context.Context) (T, error), clock func() time.Time) *cached[T] {
	return &cached[T]{count: count, clock: clock, turn: make(chan struct{}, 1)}
}

// now returns the numbers, or the error of counting, at most countsLife old. It waits for a count
// under way until ctx ends. An error caused by ctx is not kept for others.
func (c *cached[T]) now(ctx context.Context) (none T, err error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return none, ctx.Err()
	}
	if now := c.clock(); now.Sub(c.at) >= countsLife {
		known, err := c.count(ctx)
		if ctx.Err() != nil && err != nil {
			return none, err
		}
		c.known, c.err, c.at = known, err, now
	}
	return c.known, c.err
}

// scrapeTimeout bounds what a scrape asks of a database.
const scrapeTimeout = 5 * time.Second

// callbackRoom exports the use of the space of results, or nothing if the database does not
// answer.
type callbackRoom struct{ of *cached[webhook.Room] }

// roomDescs describe the space in use, its limit, the space in use by stage, and the largest share
// of a client.
func roomDescs() (used, limit, stage, largest *prometheus.Desc) {
	return prometheus.NewDesc("frontdesk_callback_space_used_bytes", "Space that the results of callbacks take, what is set aside included.", nil, nil),
		prometheus.NewDesc("frontdesk_callback_space_limit_bytes", "Space that the results of callbacks may take (webhooks.space, or less where their disk has less).", nil, nil),
		prometheus.NewDesc("frontdesk_callback_space_bytes",
			"The same by stage: reserved (for jobs that are not finished), kept (not fetched, or by an address that is valid), spent (fetched; gives way when room is needed).", []string{"stage"}, nil),
		prometheus.NewDesc("frontdesk_callback_space_largest_bytes", "What the client takes that takes most, what is spent aside.", nil, nil)
}

func (c callbackRoom) Describe(out chan<- *prometheus.Desc) {
	used, limit, stage, largest := roomDescs()
	for _, d := range []*prometheus.Desc{used, limit, stage, largest} {
		out <- d
	}
}

func (c callbackRoom) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	room, err := c.of.now(ctx)
	if err != nil {
		return
	}
	gauge := func(d *prometheus.Desc, bytes int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(bytes), labels...)
	}
	used, limit, stage, largest := roomDescs()
	for _, s := range webhook.Stages() {
		gauge(stage, room.Bytes(s), s.String())
	}
	most, _ := room.Largest()
	gauge(used, room.Firm()+room.Bytes(webhook.Spent))
	gauge(limit, room.Space)
	gauge(largest, most)
}

// UntilLag exports how far the until of lists stays behind.
type UntilLag func(context.Context) (time.Duration, error)

func untilLagDesc() *prometheus.Desc {
	return prometheus.NewDesc("frontdesk_backend_until_lag_seconds",
		"How long the oldest write under way in PostgreSQL has been, of whatever gateway: until of lists by modified_since stays behind it.", nil, nil)
}

func (u UntilLag) Describe(out chan<- *prometheus.Desc) { out <- untilLagDesc() }

// Collect leaves the number out if the database does not answer.
func (u UntilLag) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	if lag, err := u(ctx); err == nil {
		out <- prometheus.MustNewConstMetric(untilLagDesc(), prometheus.GaugeValue, lag.Seconds())
	}
}

// ChangesState exports how many changes are kept for /changes, and how far it stays behind.
type ChangesState func(context.Context) (kept int64, lag time.Duration, err error)

func changesDescs() (kept, lag *prometheus.Desc) {
	return prometheus.NewDesc("frontdesk_backend_changes", "Changes of records that are kept for /changes (changes.keep); of PostgreSQL as of its last look at the table.", nil, nil),
		prometheus.NewDesc("frontdesk_backend_changes_lag_seconds",
			"How long the oldest transaction that has written has been under way in the server of PostgreSQL: /changes tells what is before it. 0 with SQLite.", nil, nil)
}

func (c ChangesState) Describe(out chan<- *prometheus.Desc) {
	kept, lag := changesDescs()
	out <- kept
	out <- lag
}

// Collect leaves the numbers out where the database does not tell them.
func (c ChangesState) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	if n, behind, err := c(ctx); err == nil {
		kept, lag := changesDescs()
		out <- prometheus.MustNewConstMetric(kept, prometheus.GaugeValue, float64(n))
		out <- prometheus.MustNewConstMetric(lag, prometheus.GaugeValue, behind.Seconds())
	}
}

// DiskRoom exports how much room the disks have that frontdesk writes to.
type DiskRoom func() []Disk

func diskDescs() (free, size *prometheus.Desc) {
	return prometheus.NewDesc("frontdesk_disk_free_bytes", "Bytes left on the disk of the database (of SQLite), the results of callbacks (in a folder) or the mails (in a folder).", []string{"holds"}, nil),
		prometheus.NewDesc("frontdesk_disk_size_bytes", "Bytes that the disk has in all.", []string{"holds"}, nil)
}

func (r DiskRoom) Describe(out chan<- *prometheus.Desc) {
	free, size := diskDescs()
	out <- free
	out <- size
}

// Collect leaves out a disk that hangs, since its last numbers are outdated.
func (r DiskRoom) Collect(out chan<- prometheus.Metric) {
	free, size := diskDescs()
	for _, d := range r() {
		if d.Hangs != nil {
			continue
		}
		for _, holds := range d.Holds {
			out <- prometheus.MustNewConstMetric(free, prometheus.GaugeValue, float64(d.Free), holds)
			out <- prometheus.MustNewConstMetric(size, prometheus.GaugeValue, float64(d.Size), holds)
		}
	}
}

// SessionStore exports the state of a store of sessions outside this process: 1 for the state that
// /readyz names, 0 for the others.
type SessionStore func(context.Context) (word string, cause error)

func sessionStoreDesc() *prometheus.Desc {
	return prometheus.NewDesc("frontdesk_session_store_state",
		"1 for the state that the store of sessions is in, 0 for the others: ok, read-only (it takes no writes) or unavailable.", []string{"state"}, nil)
}

func (s SessionStore) Describe(out chan<- *prometheus.Desc) { out <- sessionStoreDesc() }

func (s SessionStore) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	word, _ := s(ctx)
	for _, state := range []string{HealthOK, sessionsReadOnly, healthUnavailable} {
		value := 0.0
		if state == word {
			value = 1
		}
		out <- prometheus.MustNewConstMetric(sessionStoreDesc(), prometheus.GaugeValue, value, state)
	}
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
	of                                        *backend.Client
	circuit, running, limit, waiting, clients *prometheus.Desc
}

func newBackendState(c *backend.Client) backendState {
	return backendState{
		of: c,
		circuit: prometheus.NewDesc("frontdesk_backend_circuit_state",
			"State of the circuit breakers of a resource, of its reads and its writes: 0 closed, 1 half-open, 2 open.", []string{"resource", "calls"}, nil),
		running: prometheus.NewDesc("frontdesk_backend_calls_running", "Calls of the backend that are under way.", nil, nil),
		limit:   prometheus.NewDesc("frontdesk_backend_calls_limit", "Calls of the backend that may be under way.", nil, nil),
		waiting: prometheus.NewDesc("frontdesk_backend_calls_waiting", "Calls that wait for room at the backend.", nil, nil),
		clients: prometheus.NewDesc("frontdesk_backend_clients_waiting", "Clients whose calls wait for room at the backend.", nil, nil),
	}
}

func (s backendState) Describe(out chan<- *prometheus.Desc) {
	for _, d := range [...]*prometheus.Desc{s.circuit, s.running, s.limit, s.waiting, s.clients} {
		out <- d
	}
}

func (s backendState) Collect(out chan<- prometheus.Metric) {
	level := map[string]float64{"closed": 0, "half-open": 1, "open": 2}
	for _, c := range s.of.Circuits() {
		out <- prometheus.MustNewConstMetric(s.circuit, prometheus.GaugeValue, level[c.State], c.Resource, c.Calls)
	}
	load := s.of.Load()
	for desc, n := range map[*prometheus.Desc]int{s.running: load.Running, s.limit: load.Most, s.waiting: load.Waiting, s.clients: load.Clients} {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(n))
	}
}
