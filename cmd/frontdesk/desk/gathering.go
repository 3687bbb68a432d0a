package desk

import (
	"bytes"
	"cmp"
	"compress/flate"
	"context"
	"encoding/json"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth/redis"
	"frontdesk/cmd/frontdesk/instrument"
)

// Gateways that share a store of sessions report there, every GatherEvery, what they did: the steps and
// refusals since the last report, and about themselves.
const (
	GatherEvery  = 9 * time.Second // so that each step is reported while the next is under way
	gatewayAway  = 3 * GatherEvery // a gateway that has reported nothing for so long was killed, or hangs
	mostUnpacked = 1 << 20
)

// The names of the parts and lists of a report.
const (
	stepsPart    = "steps"
	minutesPart  = "minutes"
	refusalsList = "others"
	limitedList  = "limited"
)

// gathering reports to the other gateways, and reads their reports; nil where sessions are in memory.
// Only the fields there and fails are used by several goroutines.
type gathering struct {
	*redis.Gathering
	who      string
	reported time.Time    // the time up to which steps are reported
	refusals uint64       // the number up to which refusals are reported
	there    atomic.Int32 // how many gateways there are
	fails    atomic.Bool  // the last report failed
}

// gatewayAbout is what a gateway reports about itself.
type gatewayAbout struct {
	Version string            `json:"version"`
	Started time.Time         `json:"started"`
	Kills   int               `json:"ended_without_stop"` // in the last hour
	Stopped bool              `json:"stopped"`
	Marks   []instrument.Mark `json:"marks"`
}

// newGathering returns the gathering of an instrument. The instrument's ID is in the name, since several
// gateways may have the same host name and address, as containers do.
func newGathering(shared *common, listen string, of *instrument.Instrument) *gathering {
	if shared.gathering == nil {
		return nil
	}
	g := &gathering{Gathering: shared.gathering, who: hostName() + " " + listen + " " + of.ID()}
	for _, r := range of.Refusals() { // those of an earlier process, which has reported them
		g.refusals = max(g.refusals, r.Number)
	}
	return g
}

// gather reports to the other gateways until ctx ends, and once more then. No request waits for it.
func (p *past) gather(ctx context.Context) {
	if p.others == nil {
		return
	}
	every(ctx, p.of.after, GatherEvery, func() { p.report(ctx, false) })
	p.report(context.WithoutCancel(ctx), true)
}

func (p *past) report(ctx context.Context, stopped bool) {
	g, now := p.others, time.Now()
	reported, last := p.unreported(now, stopped)
	err := g.Report(ctx, g.who, now, reported)
	var there []redis.Gateway
	if err == nil {
		there, err = g.Gateways(ctx, now.Add(-gatewayAway))
	}
	switch failed := g.fails.Swap(err != nil); {
	case err != nil && !failed && ctx.Err() == nil:
		p.of.log.Warn("the other gateways cannot be told what this one does, nor be asked", zap.Error(err))
	case err == nil && failed:
		p.of.log.Info("the other gateways can be told again what this one does")
	}
	if err == nil {
		g.there.Store(int32(len(there))) // #nosec G115 -- few
		g.reported, g.refusals = now, last
	}
}

// unreported returns what there is to report since the last time, and the number of the last refusal in it.
func (p *past) unreported(now time.Time, stopped bool) (reported redis.Report, last uint64) {
	g := p.others
	kills, _ := p.kills(now.Add(-startsReported))
	reported = redis.Report{
		About:    packed(gatewayAbout{Version(), p.Since, kills, stopped, p.Marks(now.Add(-24 * time.Hour))}),
		Parts:    map[string]map[string][]byte{stepsPart: {}, minutesPart: {}},
		Refusals: map[string][][]byte{},
	}
	minutes, steps := p.Unreported(g.reported)
	for part, all := range map[string][]instrument.Step{stepsPart: steps, minutesPart: minutes} {
		for _, s := range all {
			reported.Parts[part][strconv.FormatInt(s.Place(), 10)] = packed(s)
		}
	}
	last = g.refusals
	for _, r := range slices.Backward(p.Instrument.Refusals()) {
		if r.Number <= g.refusals {
			continue
		}
		list := refusalsList
		if r.IsByLimit() {
			list = limitedList
		}
		last, r.Gateway = max(last, r.Number), g.who
		reported.Refusals[list] = append(reported.Refusals[list], packed(r))
	}
	return reported, last
}

func packed(v any) []byte {
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, flate.BestSpeed) // fails only for an unknown level
	_ = json.NewEncoder(w).Encode(v)             // into memory
	_ = w.Close()
	return b.Bytes()
}

// unpacked leaves out what cannot be read, such as the report of a gateway of another version.
func unpacked[T any](texts [][]byte) (all []T) {
	for _, text := range texts {
		var one T
		if json.NewDecoder(io.LimitReader(flate.NewReader(bytes.NewReader(text)), mostUnpacked)).Decode(&one) == nil {
			all = append(all, one)
		}
	}
	return all
}

// GatewayRow is one of several gateways, and what it did.
type GatewayRow struct {
	Name     string    `json:"name"` // its host, its address, and the ID of its instrument
	Requests uint32    `json:"requests"`
	Refused  uint32    `json:"refused"`
	Failed   uint32    `json:"failed"`
	Here     bool      `json:"here"` // the gateway that answers
	LastSeen time.Time `json:"last_heard"`
	Silent   bool      `json:"silent"` // the gateway did not stop, but reports nothing any more
	gatewayAbout
}

// gathered is what one gateway, or all of them, did in a span.
type gathered struct {
	*instrument.View
	Refusals []instrument.Refusal // newest first
	Marks    []instrument.Mark    // oldest first
	Gateways []GatewayRow         // empty if this is of one gateway alone
	Fault    string               // why it is not of all gateways
}

// Reasons why the other gateways are missing.
const (
	oneGateway = "sessions.store is memory: there is one gateway only."
	storeAway  = "The store of sessions does not answer, where gateways tell each other what they do: this is of this gateway alone."
)

// inSpan gathers what this gateway, or with all every gateway, did in a span.
func (p *past) inSpan(ctx context.Context, span instrument.Span, all bool) *gathered {
	now := time.Now()
	v := &gathered{View: instrument.NewView(span, now), Refusals: p.Instrument.Refusals()}
	minutes, steps := p.Steps(v.At)
	own := GatewayRow{Here: true, LastSeen: now}
	own.did(v.Add(slices.Concat(minutes, steps)))
	v.Marks = p.Marks(v.At)
	switch {
	case !all:
	case p.others == nil:
		v.Fault = oneGateway
	default:
		if err := v.join(ctx, p.others, span, own); err != nil {
			p.of.log.Debug("the other gateways cannot be asked", zap.Error(err))
			v.Fault, v.Gateways = storeAway, nil
		}
	}
	return v
}

// place returns host and address.
func (r *GatewayRow) place() string { return r.Name[:max(0, strings.LastIndexByte(r.Name, ' '))] }

func (r *GatewayRow) did(sum instrument.Entry) {
	r.Requests, r.Refused, r.Failed = sum.Requests, sum.Refused, sum.Failed
}

// join adds what the other gateways did.
func (v *gathered) join(ctx context.Context, g *gathering, span instrument.Span, own GatewayRow) error {
	there, err := g.Gateways(ctx, v.At)
	if err != nil {
		return err
	}
	var others [][]instrument.Step
	v.Gateways = []GatewayRow{own}
	for _, other := range there {
		about := gatewayAbout{}
		for _, about = range unpacked[gatewayAbout]([][]byte{other.About}) {
		}
		if other.Name == g.who {
			v.Gateways[0].Name, v.Gateways[0].gatewayAbout = other.Name, about
			continue
		}
		parts, err := g.Parts(ctx, other.Name, stepsPart)
		if err != nil {
			return err
		}
		if span.Step > instrument.Short {
			minutes, err := g.Parts(ctx, other.Name, minutesPart)
			if err != nil {
				return err
			}
			parts = append(minutes, parts...)
		}
		others = append(others, instrument.Once(unpacked[instrument.Step](parts)))
		v.Gateways = append(v.Gateways, GatewayRow{Name: other.Name, LastSeen: other.Reported, Silent: !about.Stopped && time.Since(other.Reported) > gatewayAway, gatewayAbout: about})
		for _, m := range about.Marks {
			if m.Gateway = other.Name; !m.At.Before(v.At) {
				v.Marks = append(v.Marks, m)
			}
		}
	}
	if v.Gateways[0].Name == "" { // this gateway has not reported yet
		v.Gateways[0].Name = g.who
	}
	if err := v.joinRefusals(ctx, g); err != nil {
		return err
	}
	for i, steps := range others {
		v.Gateways[i+1].did(v.Add(steps))
	}
	slices.SortStableFunc(v.Marks, func(a, b instrument.Mark) int { return a.At.Compare(b.At) })
	for i := range v.Gateways { // one that was killed is not silent if another has started in its place
		old := &v.Gateways[i]
		old.Silent = old.Silent && !slices.ContainsFunc(v.Gateways, func(g GatewayRow) bool { return !g.Silent && !g.Stopped && g.place() == old.place() })
	}
	slices.SortFunc(v.Gateways[1:], func(a, b GatewayRow) int { return cmp.Compare(a.Name, b.Name) })
	return nil
}

// joinRefusals adds what the other gateways refused.
func (v *gathered) joinRefusals(ctx context.Context, g *gathering) error {
	known := map[string]bool{} // refusals of this process; an earlier process of this gateway may have reported others
	for _, r := range v.Refusals {
		known[r.ID] = true
	}
	for _, list := range []string{refusalsList, limitedList} {
		texts, err := g.Gathering.Refusals(ctx, list)
		if err != nil {
			return err
		}
		v.Refusals = append(v.Refusals, slices.DeleteFunc(unpacked[instrument.Refusal](texts), func(r instrument.Refusal) bool { return r.Gateway == g.who && known[r.ID] })...)
	}
	v.Refusals = instrument.NewestFirst(v.Refusals)
	return nil
}
