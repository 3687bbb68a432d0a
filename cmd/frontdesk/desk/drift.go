package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/config"
)

// Gateways that share a PostgreSQL database exchange their setups every DriftEvery. A difference is
// reported once both setups are older than driftGrace: every reload makes gateways differ for a moment.
const (
	DriftEvery = 10 * time.Second
	driftGrace = 3 * DriftEvery
)

// GatewayDiffers is another gateway of the service, with the parts in which its configuration differs
// from this one's.
type GatewayDiffers struct {
	Host   string        `json:"host"`
	Listen string        `json:"listen"`
	Parts  []PartDiffers `json:"parts"`
}

// PartDiffers is a part that differs, with both values if they may be shown.
type PartDiffers struct {
	Part  string `json:"part"`
	There string `json:"there,omitempty"`
	Here  string `json:"here,omitempty"`
}

// String describes the difference to people.
func (g GatewayDiffers) String() string {
	var clauses, others []string
	for _, p := range g.Parts {
		switch {
		case p.Part == partVersion:
			clauses = append(clauses, fmt.Sprintf("runs version %s, and this one %s: a rolling upgrade is not finished", p.There, p.Here))
		case p.There != p.Here:
			others = append(others, fmt.Sprintf("%s (%s, here %s)", p.Part, cmp.Or(p.There, "none"), cmp.Or(p.Here, "none")))
		default:
			others = append(others, p.Part)
		}
	}
	if len(others) > 0 {
		clauses = append(clauses, "is set up otherwise than this one: "+strings.Join(others, ", "))
	}
	return fmt.Sprintf("the gateway %s of %s %s", g.Listen, g.Host, strings.Join(clauses, ", and "))
}

// GatewayGone is another gateway of the service that has not reported for some time and was not
// stopped: it was killed, hangs, or does not reach the database.
type GatewayGone struct {
	Host     string    `json:"host"`
	Listen   string    `json:"listen"`
	LastSeen time.Time `json:"last_heard"`
}

// drift finds gateways of the service that are set up differently from this one, or are gone. Only the
// field known is used by several goroutines.
type drift struct {
	*basis
	config     *config.Config
	parts      partFiles
	identity   func(context.Context) (string, error) // of the store of sessions; nil if sessions are in memory
	neighbours *neighbours.Tables
	live       *atomic.Pointer[snapshot]
	id         string
	of         *snapshot // keys and limits are digests of its api_keys
	keys       string
	limits     string
	last       map[string]string // the parts at the last setup
	since      time.Time         // when the parts last changed
	failing    bool
	met        time.Time // when setups were last exchanged
	known      atomic.Pointer[otherGateways]
}

// otherGateways are the gateways that differ, and those that are gone.
type otherGateways struct {
	differ []GatewayDiffers
	gone   []GatewayGone
}

// newDrift returns nil if the database is a SQLite file, which serves one gateway only.
func newDrift(h *Desk) *drift {
	if h.store.file != "" {
		return nil
	}
	d := &drift{basis: h.basis, config: h.config, parts: h.parts, identity: h.common.identity, neighbours: h.store.neighbours, live: h.live, id: uuid.NewString()}
	d.known.Store(&otherGateways{})
	return d
}

// others returns the gateways that differed or were gone at the last exchange.
func (d *drift) others() otherGateways {
	if d == nil {
		return otherGateways{}
	}
	return *d.known.Load()
}

func (d *drift) differ() []GatewayDiffers { return d.others().differ }

// watch exchanges setups with the other gateways until ctx ends, and then signs off.
func (d *drift) watch(ctx context.Context) {
	if d == nil {
		return
	}
	every(ctx, d.after, DriftEvery, func() { d.meet(ctx) })
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), healthTimeout)
	defer cancel()
	if err := d.neighbours.Leave(bounded, d.id); err != nil {
		d.log.Warn("the other gateways cannot be told that this one stops", zap.Error(err))
	}
}

func (d *drift) meet(ctx context.Context) {
	bounded, cancel := context.WithTimeout(ctx, DriftEvery)
	defer cancel()
	own := d.setup(bounded)
	document, err := json.Marshal(own)
	var all []neighbours.Gateway
	if err == nil {
		all, err = d.neighbours.Meet(bounded, d.id, string(document))
	}
	if err == nil {
		d.failing, d.met = false, d.now()
		d.known.Store(d.compare(own, all))
		return
	}
	if !d.failing && ctx.Err() == nil {
		d.log.Warn("gateways cannot tell each other how they are set up", zap.Error(err))
	}
	d.failing = true
	if d.now().Sub(d.met) > neighbours.GatewayLife { // what was found may no longer hold
		d.known.Store(&otherGateways{})
	}
}

// compare finds which gateways differ or are gone. One is not gone if another has started at its host and
// address since.
func (d *drift) compare(own setup, all []neighbours.Gateway) *otherGateways {
	found := &otherGateways{}
	there := map[[2]string]bool{{own.Host, own.Listen}: true}
	for _, isGone := range []bool{false, true} {
		for _, other := range all {
			var of setup
			if json.Unmarshal([]byte(other.Document), &of) != nil || (other.Quiet >= neighbours.GatewayLife) != isGone {
				continue // a document that cannot be read is of another version
			}
			at := [2]string{of.Host, of.Listen}
			if isGone && !there[at] {
				found.gone = append(found.gone, GatewayGone{of.Host, of.Listen, d.now().Add(-other.Quiet)})
			}
			there[at] = true
			if differs := own.differsFrom(of); !isGone && len(differs.Parts) > 0 {
				found.differ = append(found.differ, differs)
			}
		}
	}
	return found
}

// differsFrom finds the parts in which another gateway differs, once both setups are older than driftGrace.
func (s setup) differsFrom(other setup) GatewayDiffers {
	found := GatewayDiffers{Host: other.Host, Listen: other.Listen}
	if min(s.Same, other.Same) <= driftGrace {
		return found
	}
	for _, part := range driftParts {
		here, known := s.Parts[part]
		there, stated := other.Parts[part]
		switch {
		case !known || !stated || here == there:
		case shownParts[part]:
			found.Parts = append(found.Parts, PartDiffers{part, there, here})
		default:
			found.Parts = append(found.Parts, PartDiffers{Part: part})
		}
	}
	return found
}

// upgrading reports whether nothing but the version differs.
func (g GatewayDiffers) upgrading() bool { return len(g.Parts) == 1 && g.Parts[0].Part == partVersion }

// judgeDrift reports in /readyz which gateways differ or are gone. This gateway stays ready, since nobody
// knows which of them is right. A difference in version alone does not make it degraded: a rolling
// upgrade waits for each gateway to be ok.
func (h *Desk) judgeDrift(now *Health) {
	others := h.drift.others()
	now.Gone, now.Differ = others.gone, others.differ
	for _, one := range now.Gone {
		now.LookAt = append(now.LookAt, fmt.Sprintf("the gateway %s of %s has told nothing since %s, and was not stopped: it was killed, hangs, or does not reach the database",
			one.Listen, one.Host, one.LastSeen.UTC().Format(time.RFC3339)))
	}
	for _, other := range now.Differ {
		if !other.upgrading() {
			now.degraded("%s", other)
		}
	}
}

// GatewayDrift exports how many gateways differ in each part.
func GatewayDrift(of func() []GatewayDiffers) prometheus.Collector {
	differs := newMetric("frontdesk_gateway_differs", "Gateways on the same database that have been set up otherwise than this one for 30 seconds, by part.", "part")
	return newScraped(func(_ context.Context, v values) {
		counts := map[string]int{}
		for _, other := range of() {
			for _, p := range other.Parts {
				counts[p.Part]++
			}
		}
		for _, part := range driftParts {
			v.set(differs, float64(counts[part]), part)
		}
	}, differs)
}
