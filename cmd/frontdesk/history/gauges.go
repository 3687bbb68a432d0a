package history

// Gauge is something that is counted, not summed: how many there are at the moment.
type Gauge int

// The gauges.
const (
	Connections Gauge = iota // of clients
	Running                  // calls of the backend under way
	Waiting                  // calls that wait for room
	Pool                     // connections to the backend at work
	Due                      // callbacks that should be made now
	Failing                  // callbacks that were tried in vain and will be tried again
	gaugeKinds
)

// Levels are what each gauge had, the most in the step.
type Levels [gaugeKinds]uint32

type gauges struct {
	short [shortSteps]Levels
	long  [longSteps]Levels
}

// Sample notes what each gauge has now.
func (h *History) Sample(now Levels) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance(stepOf(h.clock()))
	short, long := &h.gauges.short[h.step%int64(shortSteps)], &h.gauges.long[h.step/int64(Long/Short)%int64(longSteps)]
	for i, n := range now {
		short[i], long[i] = max(short[i], n), max(long[i], n)
	}
}

func (g *gauges) advance(from, to int64) {
	for at := max(from+1, to-int64(shortSteps)+1); at <= to; at++ {
		g.short[at%int64(shortSteps)] = Levels{}
	}
	from, to = from/int64(Long/Short), to/int64(Long/Short)
	for at := max(from+1, to-int64(longSteps)+1); at <= to; at++ {
		g.long[at%int64(longSteps)] = Levels{}
	}
}

// Window returns the series of everything and the gauges of a span, oldest first, both of one moment.
func (h *History) Window(span Span) (Series, []Levels) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.advance(stepOf(h.clock()))
	now, all := h.step, h.gauges.short[:]
	if span.Step == Long {
		now, all = now/int64(Long/Short), h.gauges.long[:]
	}
	n := min(span.Points, len(all))
	found := make([]Levels, n)
	for i := range found {
		found[i] = all[(now-int64(n)+1+int64(i))%int64(len(all))]
	}
	return h.read(h.all, span), found
}

// Every is how often Sample should be called.
const Every = Short / 2
