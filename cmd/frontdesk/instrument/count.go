package instrument

import (
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"frontdesk/backend"
)

// bucketFactor is how much wider each bucket of a histogram is than the one before, at most.
const bucketFactor = 1.1

// Kind is the kind of a series.
type Kind uint8

// The kinds of series. There is one series of All, without a name.
const (
	All Kind = iota
	Endpoint
	Key
	Client
	Reason
	Calls // calls of the backend, by what their circuit guards
	kinds
)

// name names a series; the one without a word counts what has no series of its own.
type name struct {
	kind Kind
	word string
}

// count holds the counters of a series since the start.
type count struct {
	requests, refused, failed float64
	took, backend             float64 // seconds, summed over all requests
	buckets                   map[int32]float64
	schema                    int32
}

// The fates of requests.
const (
	good    = "good"
	refused = "refused"
	failed  = "failed"
)

var fates = [...]string{good, refused, failed}

func fateOf(status int) string {
	switch {
	case status >= 500:
		return failed
	case status >= 400:
		return refused
	default:
		return good
	}
}

// fateOfCall returns how a call of the backend counts. A call that was not made, because there was no
// room or the circuit was open, counts as refused.
func fateOfCall(outcome backend.Outcome) string {
	switch outcome {
	case backend.Busy, backend.Open:
		return refused
	case backend.Failed, backend.TimedOut, backend.Unexpected, backend.OwnStore:
		return failed
	default:
		return good
	}
}

func (c *count) add(fate string, n float64) {
	switch fate {
	case refused:
		c.refused += n
	case failed:
		c.failed += n
	}
}

// time adds the counts of a histogram.
func (c *count) time(h *dto.Histogram) {
	if c.buckets == nil {
		c.buckets = map[int32]float64{}
	}
	c.took += h.GetSampleSum()
	c.schema = h.GetSchema()
	at, n, delta := int32(0), int64(0), 0
	for _, span := range h.GetPositiveSpan() {
		at += span.GetOffset()
		for range span.GetLength() {
			n += h.PositiveDelta[delta]
			c.buckets[at] += float64(n)
			at, delta = at+1, delta+1
		}
	}
}

// counts returns the counters of all series.
func (i *Instrument) counts() map[name]*count {
	all := map[name]*count{}
	of := func(kind Kind, word string) *count {
		n := name{kind, word}
		if all[n] == nil {
			all[n] = &count{}
		}
		return all[n]
	}
	families, _ := i.window.Gather() // our own counters do not fail
	for _, f := range families {
		for _, m := range f.Metric {
			label := labelsOf(m)
			n := m.GetCounter().GetValue()
			switch f.GetName() {
			case "frontdesk_request_duration_seconds":
				h := m.GetHistogram()
				for _, c := range endpoints(of, label) {
					c.requests += float64(h.GetSampleCount())
					c.add(fateOfText(label["status"]), float64(h.GetSampleCount()))
					c.time(h)
				}
			case "frontdesk_request_backend_seconds_total":
				for _, c := range endpoints(of, label) {
					c.backend += n
				}
			case "frontdesk_key_requests_total":
				of(Key, label["key"]).requests += n
			case "refusals":
				fate := fateOfText(label["status"])
				c := of(Reason, label["cause"])
				c.requests += n
				c.add(fate, n)
				if label["key"] != "" {
					of(Key, label["key"]).add(fate, n)
				}
			case "clients":
				c := of(Client, label["client"])
				c.requests += n
				c.add(label["fate"], n)
			case "frontdesk_backend_calls_total":
				c := of(Calls, i.lane(label))
				c.requests += n
				c.add(fateOfCall(backend.Outcome(label["outcome"])), n)
			case "frontdesk_backend_call_seconds":
				of(Calls, i.lane(label)).time(m.GetHistogram())
			}
		}
	}
	return all
}

// endpoints returns the series that count a request for an endpoint.
func endpoints(of func(Kind, string) *count, label map[string]string) []*count {
	if label["endpoint"] == "" {
		return []*count{of(All, "")}
	}
	return []*count{of(All, ""), of(Endpoint, label["method"]+" "+label["endpoint"])}
}

func (i *Instrument) lane(label map[string]string) string {
	if of, ok := i.called.Load(callKind{label["resource"], label["operation"]}); ok {
		return of.(*callMeters).lane
	}
	return ""
}

func fateOfText(status string) string {
	n, _ := strconv.Atoi(status) // the label of a counter is a number
	return fateOf(n)
}

func labelsOf(m *dto.Metric) map[string]string {
	all := make(map[string]string, len(m.Label))
	for _, l := range m.Label {
		all[l.GetName()] = l.GetValue()
	}
	return all
}

// collected returns the counters of a vector.
func collected(of *prometheus.CounterVec) iter.Seq[*dto.Metric] {
	return func(yield func(*dto.Metric) bool) {
		metrics := make(chan prometheus.Metric)
		go func() {
			of.Collect(metrics)
			close(metrics)
		}()
		more := true
		for m := range metrics {
			is := &dto.Metric{}
			_ = m.Write(is) // into memory
			more = more && yield(is)
		}
	}
}

// since returns what was counted since an earlier count of the same series, which may be nil. If a
// counter began anew in between, as that of a key that was removed, it counts from there.
func (c *count) since(was *count) (e Entry) {
	if was == nil || was.requests > c.requests {
		was = &count{}
	}
	n := func(now, before float64) uint32 { return uint32(max(now-before, 0)) } // #nosec G115 -- ten seconds have few
	e.Requests, e.Refused, e.Failed = n(c.requests, was.requests), n(c.refused, was.refused), n(c.failed, was.failed)
	e.Took, e.Backend = float32(c.took-was.took), float32(max(c.backend-was.backend, 0))
	timed := 0.0
	for at, n := range c.buckets {
		timed += n - was.buckets[at]
	}
	place, below := 0, 0.0
	for _, at := range slices.Sorted(maps.Keys(c.buckets)) {
		below += c.buckets[at] - was.buckets[at]
		for place < len(Percentiles) && below > 0 && below >= math.Ceil(timed*float64(Percentiles[place])/100) {
			e.Percentiles[place] = float32(math.Exp2(float64(at) / float64(int(1)<<max(c.schema, 0))))
			place++
		}
	}
	return e
}

// withoutCauses exports refusals without their causes, by the api_keys that are configured.
type withoutCauses struct{ of *Instrument }

var refusalsDesc = prometheus.NewDesc("frontdesk_refusals_total",
	"Requests that were answered with an error, by the name of the api_key (empty where none is known), the reason, and the status.", []string{"key", "reason", "status"}, nil)

// Describe implements prometheus.Collector.
func (withoutCauses) Describe(out chan<- *prometheus.Desc) { out <- refusalsDesc }

// Collect implements prometheus.Collector.
func (w withoutCauses) Collect(out chan<- prometheus.Metric) {
	sums := map[[3]string]float64{}
	var known map[string]bool
	if w.of.Configured != nil {
		known = w.of.Configured()
	}
	for m := range collected(w.of.refusals) {
		label := labelsOf(m)
		if known != nil && !known[label["key"]] {
			label["key"] = ""
		}
		sums[[3]string{label["key"], label["reason"], label["status"]}] += m.GetCounter().GetValue()
	}
	for label, n := range sums {
		out <- prometheus.MustNewConstMetric(refusalsDesc, prometheus.CounterValue, n, label[:]...)
	}
}
