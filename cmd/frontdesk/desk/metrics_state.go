package desk

import (
	"context"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"frontdesk/backend"
	"frontdesk/gateway/webhook"
)

// This file exports what is read from the parts at every scrape.

// watch exports the state of the desk.
func (h *Desk) watch() {
	registry := h.metrics.Registry
	h.metrics.Configured = func() map[string]bool {
		names := map[string]bool{}
		for _, k := range h.keys() {
			names[k.Name] = true
		}
		return names
	}
	registry.MustRegister(backendState(h.client), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo())
	gauge := func(name, help string, read func() float64) {
		registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
	}
	gauge("frontdesk_connections_open", "Connections of clients that are open.", func() float64 { return float64(h.server.Connections()) })
	registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "frontdesk_connections_refused_total", Help: "Connections of clients that were refused because there were as many as there may be (server.connections).",
	}, func() float64 { return float64(h.server.RefusedConnections()) }))
	gauge("frontdesk_body_memory_used_bytes", "Memory set aside for the bodies under way that are over 16 KiB, and the answers over 256 KiB.", func() float64 {
		taken, _, _ := h.server.Bodies()
		return float64(taken)
	})
	gauge("frontdesk_body_memory_limit_bytes", "Memory that bodies and answers may take.", func() float64 {
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
		return float64(h.hasher.Running())
	})
	gauge("frontdesk_passwords_waiting", "Logins that wait for their turn to be verified.", func() float64 { return float64(h.logins.queue.Waiting()) })
	if p, ok := h.system.driver.(backend.Pooler); ok {
		gauge("frontdesk_backend_pool_in_use", "Connections to the administration that are at work; of SQLite those that read.",
			func() float64 { return float64(p.Pool().InUse) })
		gauge("frontdesk_backend_pool_limit", "Connections to the administration there may be.", func() float64 { return float64(p.Pool().Most) })
	}
	if changing, ok := h.system.driver.(backend.Changing); ok {
		registry.MustRegister(ClosedResources(changing))
	}
	if copier, ok := h.system.driver.(backend.Copier); ok {
		registry.MustRegister(CopiesState(copier))
	}
	if h.system.untilLag != nil {
		registry.MustRegister(UntilLag(h.system.untilLag))
	}
	if h.system.changes != nil {
		registry.MustRegister(changesState(h.system.changes))
	}
	if h.system.follower != nil {
		registry.MustRegister(ChangesScans(h.system.follower.Scans))
	}
	registry.MustRegister(diskRoom(h.looks.disks))
	if h.past.file != "" {
		gauge("frontdesk_history_saved_timestamp_seconds", "When the history of the operators' pages was written to its file last.", func() float64 { return float64(h.past.kept.Load()) })
	}
	if len(h.backups.patterns) > 0 {
		gauge("frontdesk_backup_timestamp_seconds", "When the newest of the files of ops.backups was written; 0 where there is none.", func() float64 {
			if newest := h.backups.newest.Load(); newest != nil && !newest.IsZero() {
				return float64(newest.Unix())
			}
			return 0
		})
	}
	if h.drift != nil {
		registry.MustRegister(GatewayDrift(h.drift.differ))
	}
	if h.common.ready != nil {
		registry.MustRegister(SessionStore(h.sessionsHealth))
	}
	registry.MustRegister(callbackStates(h.counts, h.pending), callbackRoom(h.room), keyTimes(h))
	h.watchLog()
	if h.tracing != nil {
		registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "frontdesk_trace_export_failures_total", Help: "Batches of spans that could not be sent, and are lost.",
		}, func() float64 { return float64(h.tracing.failures.Load()) }))
	}
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

// watchLog exports how many lines of the log were dropped.
func (h *Desk) watchLog() {
	w := h.logs.lines
	if w == nil {
		return
	}
	for kind := range w.dropped {
		h.metrics.Registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
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

	turn  chan struct{} // has one place, which now takes while it reads or counts
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

// scrapeTimeout bounds the reading of a scrape.
const scrapeTimeout = 5 * time.Second

// metric is a metric that is read at every scrape.
type metric struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
}

// newMetric describes a metric: a counter if its name ends in _total, else a gauge.
func newMetric(name, help string, labels ...string) metric {
	kind := prometheus.GaugeValue
	if strings.HasSuffix(name, "_total") {
		kind = prometheus.CounterValue
	}
	return metric{prometheus.NewDesc(name, help, labels, nil), kind}
}

// values takes the values of one scrape.
type values chan<- prometheus.Metric

func (v values) set(m metric, value float64, labels ...string) {
	v <- prometheus.MustNewConstMetric(m.desc, m.kind, value, labels...)
}

// scraped exports metrics that are read at every scrape. What cannot be read is left out: a 0
// would be wrong, and the rest of the scrape is needed most then.
type scraped struct {
	metrics []metric
	read    func(context.Context, values)
}

// newScraped exports metrics, whose values read sets.
func newScraped(read func(context.Context, values), metrics ...metric) prometheus.Collector {
	return scraped{metrics, read}
}

// Describe implements prometheus.Collector.
func (s scraped) Describe(out chan<- *prometheus.Desc) {
	for _, m := range s.metrics {
		out <- m.desc
	}
}

// Collect implements prometheus.Collector.
func (s scraped) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	s.read(ctx, out)
}

// callbackRoom exports the use of the space of results.
func callbackRoom(of *cached[webhook.Room]) prometheus.Collector {
	used := newMetric("frontdesk_callback_space_used_bytes", "Space that the results of callbacks take, what is set aside included.")
	limit := newMetric("frontdesk_callback_space_limit_bytes", "Space that the results of callbacks may take (10 GiB, or less where their disk has less).")
	stage := newMetric("frontdesk_callback_space_bytes",
		"The same by stage: reserved (for jobs that are not finished), kept (not fetched, or by an address that is valid), spent (fetched; gives way when room is needed).", "stage")
	largest := newMetric("frontdesk_callback_space_largest_bytes", "What the client takes that takes most, what is spent aside.")
	return newScraped(func(ctx context.Context, v values) {
		room, err := of.now(ctx)
		if err != nil {
			return
		}
		for _, s := range webhook.Stages() {
			v.set(stage, float64(room.Bytes(s)), s.String())
		}
		most, _ := room.Largest()
		v.set(used, float64(room.Firm()+room.Bytes(webhook.Spent)))
		v.set(limit, float64(room.Space))
		v.set(largest, float64(most))
	}, used, limit, stage, largest)
}

// ClosedResources exports which resources are closed because the administration has changed, and how many
// records were left out of lists.
func ClosedResources(of backend.Changing) prometheus.Collector {
	closed := newMetric("frontdesk_backend_changed",
		"Since when, in seconds since 1970, calls of a resource are refused because the administration lacks something that they need: its writes, or its reads as well.", "resource", "calls")
	left := newMetric("frontdesk_backend_records_left_out_total", "Records that were left out of lists, because the value of a field cannot be converted.", "resource", "field")
	return newScraped(func(_ context.Context, v values) {
		for _, c := range of.Closed() {
			v.set(closed, float64(c.Since.Unix()), c.Resource, "writes")
			if c.Reads {
				v.set(closed, float64(c.Since.Unix()), c.Resource, "reads")
			}
		}
		for place, n := range of.LeftOut() {
			v.set(left, float64(n), place.Resource, place.Field)
		}
	}, closed, left)
}

// CopiesState exports the state of the copies of a service's records; for a resource with several clients,
// that of the worst.
func CopiesState(of backend.Copier) prometheus.Collector {
	age := newMetric("frontdesk_copy_age_seconds", "How long ago the copy was last known to be as the service has it; of several clients the longest. Absent until it is whole.", "resource")
	records := newMetric("frontdesk_copy_records", "Records that the last walk over the service's has found.", "resource")
	failing := newMetric("frontdesk_copy_failing", "Since when, in seconds since 1970, the service's records could not be walked.", "resource")
	return newScraped(func(ctx context.Context, v values) {
		all, err := of.Copies(ctx)
		if err != nil {
			return
		}
		ages, sums, since := map[string]float64{}, map[string]float64{}, map[string]float64{}
		for _, c := range all {
			if sums[c.Resource] += float64(c.Records); !c.Known.IsZero() {
				ages[c.Resource] = max(ages[c.Resource], c.Age.Seconds())
			}
			if at := float64(c.FailedAt.Unix()); c.Failed != "" && (since[c.Resource] == 0 || at < since[c.Resource]) {
				since[c.Resource] = at
			}
		}
		for m, of := range map[metric]map[string]float64{age: ages, records: sums, failing: since} {
			for resource, n := range of {
				v.set(m, n, resource)
			}
		}
	}, age, records, failing)
}

// UntilLag exports by how much the until of lists lags.
func UntilLag(of func(context.Context) (time.Duration, error)) prometheus.Collector {
	lag := newMetric("frontdesk_backend_until_lag_seconds",
		"How long the oldest write under way in PostgreSQL has been, of whatever gateway: until of lists by modified_since stays behind it.")
	return newScraped(func(ctx context.Context, v values) {
		if late, err := of(ctx); err == nil {
			v.set(lag, late.Seconds())
		}
	}, lag)
}

// ChangesState returns how many changes are kept for /changes, and by how much /changes lags.
type ChangesState func(context.Context) (kept int64, lag time.Duration, err error)

// changesState exports a ChangesState.
func changesState(of ChangesState) prometheus.Collector {
	kept := newMetric("frontdesk_backend_changes", "Changes of records that are kept for /changes (changes.keep); of PostgreSQL as of its last look at the table.")
	lag := newMetric("frontdesk_backend_changes_lag_seconds",
		"How long the oldest transaction that has written has been under way in the server of PostgreSQL: /changes tells what is before it. 0 with SQLite.")
	return newScraped(func(ctx context.Context, v values) {
		if n, late, err := of(ctx); err == nil {
			v.set(kept, float64(n))
			v.set(lag, late.Seconds())
		}
	}, kept, lag)
}

// diskRoom exports how much room the disks have that frontdesk writes to. It leaves out a disk that
// hangs, since its last numbers are outdated.
func diskRoom(of func() []Disk) prometheus.Collector {
	free := newMetric("frontdesk_disk_free_bytes", "Bytes left on the disk of the database and the results of callbacks (on SQLite), or the mails (in a folder).", "holds")
	size := newMetric("frontdesk_disk_size_bytes", "Bytes that the disk has in all.", "holds")
	return newScraped(func(_ context.Context, v values) {
		for _, d := range of() {
			if d.Hangs != nil {
				continue
			}
			for _, holds := range d.Holds {
				v.set(free, float64(d.Free), holds)
				v.set(size, float64(d.Size), holds)
			}
		}
	}, free, size)
}

// SessionStore exports the state of a store of sessions outside this process: 1 for the state that
// /readyz names, 0 for the others.
func SessionStore(of func(context.Context) (word string, cause error)) prometheus.Collector {
	state := newMetric("frontdesk_session_store_state",
		"1 for the state that the store of sessions is in, 0 for the others: ok, read-only (it takes no writes) or unavailable.", "state")
	return newScraped(func(ctx context.Context, v values) {
		word, _ := of(ctx)
		for _, one := range []string{HealthOK, sessionsReadOnly, healthUnavailable} {
			v.set(state, oneIf(one == word), one)
		}
	}, state)
}

// backendState exports the circuits, and how many calls run and wait.
func backendState(of *backend.Client) prometheus.Collector {
	circuit := newMetric("frontdesk_backend_circuit_state",
		"State of the circuit breakers of a resource, of its reads and its writes: 0 closed, 1 half-open, 2 open.", "resource", "calls")
	running := newMetric("frontdesk_backend_calls_running", "Calls of the backend that are under way.")
	limit := newMetric("frontdesk_backend_calls_limit", "Calls of the backend that may be under way.")
	waiting := newMetric("frontdesk_backend_calls_waiting", "Calls that wait for room at the backend.")
	clients := newMetric("frontdesk_backend_clients_waiting", "Clients whose calls wait for room at the backend.")
	level := map[string]float64{"closed": 0, "half-open": 1, "open": 2}
	return newScraped(func(_ context.Context, v values) {
		for _, c := range of.Circuits() {
			v.set(circuit, level[c.State], c.Resource, c.Calls)
		}
		load := of.Load()
		v.set(running, float64(load.Running))
		v.set(limit, float64(load.Most))
		v.set(waiting, float64(load.Waiting))
		v.set(clients, float64(load.Clients))
	}, circuit, running, limit, waiting, clients)
}
