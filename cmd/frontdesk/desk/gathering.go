package desk

import (
	"bytes"
	"compress/flate"
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth/redis"
	"frontdesk/cmd/frontdesk/history"
)

// Gateways that share a store of sessions tell each other there, every GatherEvery, what they did:
// the step under way and what came since the last time; and once a minute who was busiest.
const (
	GatherEvery  = history.Short - time.Second // so that each step is told while the next is under way
	tablesEvery  = time.Minute
	gatewayAway  = 2 * time.Minute // that has told nothing for so long has ended, or hangs
	tablesPart   = "tables"
	mostUnpacked = 4 << 20
)

// ringParts are what Redis keeps the rings under.
var ringParts = map[history.Span]string{history.RingOf(history.Spans["2h"]): "steps", history.RingOf(history.Spans["24h"]): "minutes"}

// gathering is what a gateway tells the others, and hears of them; nil where sessions are in
// memory. Only told and fault are used by several goroutines.
type gathering struct {
	*redis.Gathering
	who    string
	told   time.Time // up to when
	tables time.Time
	there  atomic.Int32 // how many gateways there are
	fails  atomic.Bool  // it could not be told last
}

// gatheredTables is who was busiest at a gateway, by span, and what changed there.
type gatheredTables struct {
	Busy  map[string][]busyTable `json:"busiest"`
	Marks []history.Mark         `json:"marks"`
}

// newGathering tells of a history: its ID is in the name, since several gateways may have the
// same host name and address, as containers do.
func newGathering(shared *common, listen string, of *history.History) *gathering {
	if shared.gathering == nil {
		return nil
	}
	return &gathering{Gathering: shared.gathering, who: hostName() + " " + listen + " " + of.ID()}
}

// gather tells the other gateways what this one does until ctx ends, and once more then. It is
// never on the way of a request.
func (p *past) gather(ctx context.Context) {
	g := p.others
	if g == nil {
		return
	}
	every(ctx, p.of.after, GatherEvery, func() { p.tell(ctx) })
	g.tables = time.Time{}
	p.tell(context.WithoutCancel(ctx))
}

func (p *past) tell(ctx context.Context) {
	g, now := p.others, time.Now()
	var parts []redis.Part
	for span, name := range ringParts {
		for _, places := range p.Places(span, g.told) {
			parts = append(parts, redis.Part{Name: name, At: places.At, Bytes: places.Bytes, Life: span.Step * time.Duration(span.Points)})
		}
	}
	if now.Sub(g.tables) >= tablesEvery {
		parts = append(parts, redis.Part{Name: tablesPart, At: -1, Bytes: p.packTables(), Life: gatewayAway})
	}
	err := g.Tell(ctx, g.who, now, parts...)
	var there []string
	if err == nil {
		there, err = g.Gateways(ctx, now.Add(-gatewayAway))
	}
	switch failed := g.fails.Swap(err != nil); {
	case err != nil && !failed && ctx.Err() == nil:
		p.of.log.Warn("the other gateways cannot be told what this one does, nor be asked", zap.Error(err))
	case err == nil && failed:
		p.of.log.Info("the other gateways can be told again what this one does")
	}
	if err != nil {
		return
	}
	g.there.Store(int32(len(there))) // #nosec G115 -- few
	if g.told = now; now.Sub(g.tables) >= tablesEvery {
		g.tables = now
	}
}

func (p *past) packTables() []byte {
	t := gatheredTables{Busy: map[string][]busyTable{}, Marks: p.Marks(time.Now().Add(-24 * time.Hour))}
	for name, span := range history.Spans {
		for _, k := range pastKinds {
			t.Busy[name] = append(t.Busy[name], p.busiest(k.kind, k.name, k.title, span))
		}
	}
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // which is a level that there is
	_ = json.NewEncoder(w).Encode(t)             // into memory
	_ = w.Close()
	return b.Bytes()
}

func unpackTables(packed []byte) (t gatheredTables, err error) {
	err = json.NewDecoder(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), mostUnpacked)).Decode(&t)
	return t, err
}

// GatewayRow is what one of several gateways did.
type GatewayRow struct {
	Name     string `json:"name"` // its host, its address, and what tells it from others that have the same
	Requests uint32 `json:"requests"`
	Refused  uint32 `json:"refused"`
	Failed   uint32 `json:"failed"`
	Here     bool   `json:"here"`  // the one that is asked
	There    bool   `json:"there"` // it has told of itself just now
}

func gatewayRow(name string, did history.Point) GatewayRow {
	return GatewayRow{Name: name, Requests: did.Requests, Refused: did.Refused, Failed: did.Failed, There: true}
}

// gather makes the view one of all gateways, or says why that cannot be. The view of one name
// gets what each gateway did of it, as far as it is among the busiest there; its charts stay
// those of this gateway.
func (v *windowView) gather(ctx context.Context, p *past, span history.Span, names bool) {
	if p.others == nil {
		v.Fault = "sessions.store is memory: there is one gateway only."
		return
	}
	join := v.join
	if v.Of != "" {
		join = v.joinName
	}
	if err := join(ctx, p, span, names); err != nil {
		p.of.log.Debug("the other gateways cannot be asked", zap.Error(err))
		v.Fault = "The store of sessions does not answer, where gateways tell each other what they do: this is not the sum."
	}
}

// join adds the other gateways to the view of everything.
func (v *windowView) join(ctx context.Context, p *past, span history.Span, names bool) error {
	g := p.others
	whom, err := g.Gateways(ctx, v.Since)
	if err != nil {
		return err
	}
	there, err := g.Gateways(ctx, v.now.Add(-gatewayAway))
	if err != nil {
		return err
	}
	whom = slices.DeleteFunc(whom, func(who string) bool { return who == g.who })
	rings, err := g.Told(ctx, ringParts[history.RingOf(span)], whom...)
	if err != nil {
		return err
	}
	v.Gateways = []GatewayRow{gatewayRow(g.who, v.series.Sum())}
	v.Gateways[0].Here = true
	for i, who := range whom {
		row := gatewayRow(who, v.series.Join(v.levels, rings[i]))
		if row.There = slices.Contains(there, who); row.Requests > 0 || row.There {
			v.Gateways = append(v.Gateways, row)
		}
	}
	tables, err := g.Told(ctx, tablesPart, whom...)
	if err != nil {
		return err
	}
	for i, packed := range tables {
		t, err := unpackTables(packed)
		if err != nil {
			continue // it has ended, or is of a version that says it otherwise
		}
		for _, m := range t.Marks {
			if m.At = m.At.In(v.now.Location()); !m.At.Before(v.Since) {
				m = markFor(m, names)
				m.Text = whom[i] + ": " + m.Text
				v.Marks = append(v.Marks, m)
			}
		}
		if !names {
			continue
		}
		for _, busy := range t.Busy[v.Span] {
			if at := slices.IndexFunc(v.Busy, func(own busyTable) bool { return own.Kind == busy.Kind }); at >= 0 {
				v.Busy[at].join(busy)
			}
		}
	}
	slices.SortStableFunc(v.Marks, func(a, b history.Mark) int { return a.At.Compare(b.At) })
	return nil
}

// joinName adds what each of the other gateways that are there did of one name.
func (v *windowView) joinName(ctx context.Context, p *past, _ history.Span, _ bool) error {
	g := p.others
	whom, err := g.Gateways(ctx, v.now.Add(-gatewayAway))
	if err != nil {
		return err
	}
	whom = slices.DeleteFunc(whom, func(who string) bool { return who == g.who })
	tables, err := g.Told(ctx, tablesPart, whom...)
	if err != nil {
		return err
	}
	v.Gateways = []GatewayRow{gatewayRow(g.who, v.series.Sum())}
	v.Gateways[0].Here = true
	for i, packed := range tables {
		t, err := unpackTables(packed)
		if err != nil {
			continue // as in join
		}
		for _, busy := range t.Busy[v.Span] {
			at := slices.IndexFunc(busy.Rows, func(row busyRow) bool { return row.Name == v.Name })
			if busy.Kind != v.Of || at < 0 {
				continue
			}
			row := busy.Rows[at]
			v.Gateways = append(v.Gateways, gatewayRow(whom[i], history.Point{Requests: row.Requests, Refused: row.Refused, Failed: row.Failed}))
		}
	}
	return nil
}

// join adds the rows of another gateway's table.
func (t *busyTable) join(other busyTable) {
	for _, row := range other.Rows {
		at := slices.IndexFunc(t.Rows, func(own busyRow) bool { return own.Name == row.Name })
		if at < 0 {
			t.Rows = append(t.Rows, row)
			continue
		}
		own := &t.Rows[at]
		own.Requests, own.Refused, own.Failed, own.P95 = own.Requests+row.Requests, own.Refused+row.Refused, own.Failed+row.Failed, max(own.P95, row.P95)
	}
	t.Rest += other.Rest
	slices.SortStableFunc(t.Rows, func(a, b busyRow) int { return int(b.Requests) - int(a.Requests) })
}
