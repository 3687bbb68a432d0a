package instrument

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"frontdesk/auth"
	"frontdesk/backend"
	"frontdesk/gateway"
)

// Instrument counts what a gateway does. It is safe for concurrent use, and never blocks a request for long.
type Instrument struct {
	Registry *prometheus.Registry // what /metrics exports
	Since    time.Time            // when it began to count

	// Configured returns the api_keys that /metrics may name; nil for all. It is set before the first
	// scrape.
	Configured func() map[string]bool

	requests   *prometheus.HistogramVec // by method, endpoint, status
	backend    *prometheus.CounterVec   // seconds of the backend in requests, by method, endpoint
	refusals   *prometheus.CounterVec   // by key, reason, cause, status; /metrics leaves out causes, which reveal whether a user exists
	keys       *prometheus.CounterVec   // requests by key, sha256
	clients    *prometheus.CounterVec   // requests by client, fate; only for the pages, since /metrics names no clients
	calls      *prometheus.CounterVec   // by resource, operation, outcome
	seconds    *prometheus.HistogramVec // of calls, by resource, operation
	records    *prometheus.CounterVec   // of bulk requests, by method, endpoint, status
	deprecated *prometheus.CounterVec   // by key, what, how
	logins     *prometheus.CounterVec   // by outcome
	window     *prometheus.Registry     // the metrics that the pages show

	uses   sync.Map // hash of an api_key ([32]byte) to its last use in Unix seconds (*atomic.Int64)
	called sync.Map // callKind to *callMeters
	opened sync.Map // name of what a circuit guards to its last *Opening

	clock func() time.Time
	id    string

	looking  sync.Mutex // held from reading the counters until last is set; locked before mu
	mu       sync.Mutex
	last     map[name]*count // the counters at the end of the last step
	began    int64           // start of the step under way, in Unix seconds
	minutes  []Step          // oldest first
	steps    []Step          // those after minutes, oldest first
	levels   Levels
	answers  map[answerKind]*answerMeters
	byKey    map[KeyHash]prometheus.Counter
	byClient map[string]*[3]prometheus.Counter
	byReason map[refusalKind]prometheus.Counter
	refused  refusals
	seen     seen
	marks    []Mark
	numbered uint64 // refusals so far
}

// New returns an instrument that begins to count now.
func New(clock func() time.Time) *Instrument {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets, NativeHistogramBucketFactor: bucketFactor}, labels)
	}
	i := &Instrument{
		Registry: prometheus.NewRegistry(), window: prometheus.NewRegistry(), Since: clock(), clock: clock, id: rand.Text()[:idLength], last: map[name]*count{},
		answers: map[answerKind]*answerMeters{}, byKey: map[KeyHash]prometheus.Counter{}, byClient: map[string]*[3]prometheus.Counter{}, byReason: map[refusalKind]prometheus.Counter{},
		requests: histogram("frontdesk_request_duration_seconds", "How long requests took, by the endpoint as it is documented and the status answered; without an endpoint for those that found none.",
			[]float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}, "method", "endpoint", "status"),
		backend:  counter("frontdesk_request_backend_seconds_total", "How long the calls of the backend took that requests made, those side by side added.", "method", "endpoint"),
		refusals: counter("refusals", "Requests that were answered with an error.", "key", "reason", "cause", "status"),
		keys:     counter("frontdesk_key_requests_total", "Requests with one of the hashes of an api_key, by its first digits, at this gateway, logins included; without digits those that needed no look at it.", "key", "sha256"),
		clients:  counter("clients", "Requests by client.", "client", "fate"),
		calls: counter("frontdesk_backend_calls_total", "Calls of the backend by how they ended: answered (refusals too), unexpected, failed, timeout, cancelled, busy (no room), circuit (open), store (the gateway's own) or kept (under an idempotency key, without asking).",
			"resource", "operation", "outcome"),
		seconds: histogram("frontdesk_backend_call_seconds", "How long calls of the backend took, the wait for room included.",
			[]float64{.0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}, "resource", "operation"),
		records:    counter("frontdesk_bulk_records_total", "Records of requests that write many at once, by the endpoint and by what a request for each alone would have been answered.", "method", "endpoint", "status"),
		deprecated: counter("frontdesk_deprecated_total", "Requests that have to do with something that the model marks as deprecated, by how: named (by the request) or answered (only part of the answer).", "key", "what", "how"),
		logins:     counter("frontdesk_logins_total", "Tries to log in by how they ended: done, wrong (api_key, username or password), throttled, busy (too many others at once), refused (a user who may not) or failed.", "outcome"),
	}
	i.Registry.MustRegister(i.requests, i.backend, withoutCauses{i}, i.keys, i.calls, i.seconds, i.records, i.deprecated, i.logins)
	i.window.MustRegister(i.requests, i.backend, i.refusals, i.keys, i.clients, i.calls, i.seconds)
	for _, outcome := range auth.LoginOutcomes() {
		i.logins.WithLabelValues(string(outcome)) // from 0, so that a rate sees the first one
	}
	i.began, i.seen = stepOf(i.Since), newSeen(i.Since)
	return i
}

const idLength = 6

// mostClients is how many clients have a series of their own.
const mostClients = 5000

// ID identifies this instrument. It is drawn when counting begins, and kept over a restart with the
// history.
func (i *Instrument) ID() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.id
}

var _ gateway.Meter = (*Instrument)(nil)

// answerKind is the kind by which requests are timed, and answerMeters are its meters.
type (
	answerKind struct {
		method, endpoint string
		status           int
	}
	answerMeters struct {
		took    prometheus.Observer
		backend prometheus.Counter
	}
)

// refusalKind is the kind by which refusals are counted.
type refusalKind struct {
	key, reason, cause string
	status             int
}

// Answered implements gateway.Meter.
func (i *Instrument) Answered(a gateway.Answer) {
	i.mu.Lock()
	timed, counted := i.meters(&a)
	i.seen.note(&a)
	if a.Reason != "" {
		i.numbered++
		i.refused.add(&a, i.numbered)
	}
	for _, one := range counted { // under mu, so that no count is lost when KeepKeys ends a series
		if one != nil {
			one.Inc()
		}
	}
	i.mu.Unlock()
	timed.took.Observe(a.Took.Seconds())
	if a.Backend > 0 {
		timed.backend.Add(a.Backend.Seconds())
	}
	if a.Hash != nil {
		i.Used(a.Hash.Hash, a.At)
	}
	for _, use := range a.Deprecated {
		how := "answered"
		if use.Named {
			how = "named"
		}
		i.deprecated.WithLabelValues(a.Key, use.What, how).Inc()
	}
}

// meters returns the meters of an answer, and makes them if they are new.
func (i *Instrument) meters(a *gateway.Answer) (timed *answerMeters, counted [3]prometheus.Counter) {
	kind := answerKind{a.Method, a.Endpoint, a.Status}
	if a.Endpoint == "" {
		kind.method = "" // a client may make one up
	}
	if timed = i.answers[kind]; timed == nil {
		timed = &answerMeters{i.requests.WithLabelValues(kind.method, kind.endpoint, strconv.Itoa(a.Status)), i.backend.WithLabelValues(kind.method, kind.endpoint)}
		i.answers[kind] = timed
	}
	if a.Key != "" {
		key := KeyHash{a.Key, a.Hash.Short()}
		if counted[0] = i.byKey[key]; counted[0] == nil {
			counted[0] = i.keys.WithLabelValues(key.Key, key.SHA256)
			i.byKey[key] = counted[0]
		}
	}
	if a.Client != "" {
		client := a.Client
		if i.byClient[client] == nil && len(i.byClient) >= mostClients {
			client = "" // the series of all others
		}
		of := i.byClient[client]
		if of == nil {
			of = new([3]prometheus.Counter)
			i.byClient[client] = of
		}
		fate := slices.Index(fates[:], fateOf(a.Status))
		if of[fate] == nil {
			of[fate] = i.clients.WithLabelValues(client, fates[fate])
		}
		counted[1] = of[fate]
	}
	if a.Reason != "" {
		kind := refusalKind{a.Key, cmp.Or(a.Counted, a.Reason), cmp.Or(a.Cause, a.Reason), a.Status}
		if counted[2] = i.byReason[kind]; counted[2] == nil {
			counted[2] = i.refusals.WithLabelValues(kind.key, kind.reason, kind.cause, strconv.Itoa(kind.status))
			i.byReason[kind] = counted[2]
		}
	}
	return timed, counted
}

// Wrote implements gateway.Meter.
func (i *Instrument) Wrote(method, endpoint string, status, records int) {
	i.records.WithLabelValues(method, endpoint, strconv.Itoa(status)).Add(float64(records))
}

// LoggedIn counts a try to log in.
func (i *Instrument) LoggedIn(o auth.LoginOutcome) { i.logins.WithLabelValues(string(o)).Inc() }

// callKind is the kind by which calls of the backend are counted, and callMeters are its meters.
type (
	callKind   struct{ resource, operation string }
	callMeters struct {
		lane     string // the name of what their circuit guards
		seconds  prometheus.Observer
		answered prometheus.Counter // calls with the usual outcome
		slowest
	}
)

// Called counts a call of the backend, and adds its time to the line of its request in the access
// log.
func (i *Instrument) Called(ctx context.Context, c backend.Call) {
	gateway.NoteBackend(ctx, c.Took)
	kind := callKind{c.Resource, c.Operation}
	found, ok := i.called.Load(kind)
	if !ok {
		found, _ = i.called.LoadOrStore(kind, &callMeters{
			lane: c.Lane, seconds: i.seconds.WithLabelValues(c.Resource, c.Operation), answered: i.calls.WithLabelValues(c.Resource, c.Operation, string(backend.Answered)),
		})
	}
	of := found.(*callMeters)
	of.seconds.Observe(c.Took.Seconds())
	if c.Outcome == backend.Answered {
		of.answered.Inc()
	} else {
		i.calls.WithLabelValues(c.Resource, c.Operation, string(c.Outcome)).Inc()
	}
	of.note(ctx, i.clock, &c)
	if c.Opened {
		i.opened.Store(c.Lane, &Opening{At: i.clock(), Operation: c.Operation, Outcome: c.Outcome, RequestID: gateway.RequestIDOf(ctx)})
	}
}

// Opening is what opened a circuit.
type Opening struct {
	At        time.Time       `json:"at"`
	Operation string          `json:"operation"`
	Outcome   backend.Outcome `json:"outcome"` // of the call that opened it
	RequestID string          `json:"request_id"`
}

// Opened returns the last opening of a circuit; nil if there was none.
func (i *Instrument) Opened(lane string) *Opening {
	if found, ok := i.opened.Load(lane); ok {
		return found.(*Opening)
	}
	return nil
}

// Used records a use of one of the hashes of an api_key, at any gateway.
func (i *Instrument) Used(hash [32]byte, at time.Time) {
	kept, ok := i.uses.Load(hash)
	if !ok {
		kept, _ = i.uses.LoadOrStore(hash, new(atomic.Int64))
	}
	last := kept.(*atomic.Int64)
	for now, was := at.Unix(), last.Load(); now > was && !last.CompareAndSwap(was, now); was = last.Load() {
	}
}

// LastUse returns when a hash was last used, as far as is known; zero for never.
func (i *Instrument) LastUse(hash [32]byte) time.Time {
	kept, ok := i.uses.Load(hash)
	if !ok {
		return time.Time{}
	}
	return time.Unix(kept.(*atomic.Int64).Load(), 0)
}

// KeyHash names one of the hashes of an api_key, by its first digits.
type KeyHash struct{ Key, SHA256 string }

// KeepKeys begins the series of the configured api_keys, by their hashes, and ends those of others. Their
// refusals move to the series without a name: a sum that went down would look like a restart, and a rate
// would count it twice.
func (i *Instrument) KeepKeys(configured map[[32]byte]KeyHash) {
	names, pairs := map[string]bool{"": true}, map[KeyHash]bool{}
	for _, k := range configured {
		names[k.Key], pairs[k], pairs[KeyHash{k.Key, ""}] = true, true, true
		i.keys.WithLabelValues(k.Key, k.SHA256) // from 0, so that a rate sees the first one
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	clear(i.byKey)
	clear(i.byReason)
	for _, of := range []*prometheus.CounterVec{i.keys, i.refusals, i.deprecated} {
		for _, m := range slices.Collect(collected(of)) {
			label := labelsOf(m)
			if names[label["key"]] && (of != i.keys || pairs[KeyHash{label["key"], label["sha256"]}]) {
				continue
			}
			of.Delete(label)
			if of == i.refusals {
				label["key"] = ""
				of.With(label).Add(m.GetCounter().GetValue())
			}
		}
	}
	i.uses.Range(func(hash, _ any) bool {
		if _, is := configured[hash.([32]byte)]; !is {
			i.uses.Delete(hash)
		}
		return true
	})
}
