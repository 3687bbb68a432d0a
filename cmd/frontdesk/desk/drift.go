package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/config"
)

// Gateways that share a PostgreSQL database tell each other every DriftEvery how they are set up.
// A difference is reported after driftTold findings in a row, over 30 s: every reload makes
// gateways differ for a moment.
const (
	DriftEvery = 10 * time.Second
	driftTold  = 4
	// quietTold is how long a gateway has told nothing before the others say so.
	quietTold = 3 * DriftEvery
)

// GatewayDiffers is another gateway of the service whose configuration differs from this
// one's.
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

// String is for people.
func (g GatewayDiffers) String() string {
	var said, others []string
	for _, p := range g.Parts {
		switch {
		case p.Part == partVersion:
			said = append(said, fmt.Sprintf("runs version %s, and this one %s: a rolling upgrade is not finished", p.There, p.Here))
		case p.There != p.Here:
			others = append(others, fmt.Sprintf("%s (%s, here %s)", p.Part, cmp.Or(p.There, "none"), cmp.Or(p.Here, "none")))
		default:
			others = append(others, p.Part)
		}
	}
	if len(others) > 0 {
		said = append(said, "is set up otherwise than this one: "+strings.Join(others, ", "))
	}
	return fmt.Sprintf("the gateway %s of %s %s", g.Listen, g.Host, strings.Join(said, ", and "))
}

// GatewayGone is another gateway of the service that has told nothing for some time, and did not stop:
// it was killed, hangs, or does not reach the database.
type GatewayGone struct {
	Host   string    `json:"host"`
	Listen string    `json:"listen"`
	Heard  time.Time `json:"last_heard"`
}

// drift finds gateways of the service that are set up differently from this one, or are gone. Only told
// and gone are used by several goroutines.
type drift struct {
	*basis
	config       *config.Config
	parts        partFiles
	identity     func(context.Context) (string, error) // of the store of sessions; nil where it is this process
	neighbours   *neighbours.Tables
	live         *config.Live[snapshot]
	id           string
	of           *snapshot // whose api_keys these are digests of
	keys, limits string
	differing    map[differing]times
	failing      bool
	met          time.Time // when they did last
	told         atomic.Pointer[[]GatewayDiffers]
	gone         atomic.Pointer[[]GatewayGone]
}

// differing is a part in which another gateway differs. times is how often in a row it was found
// to, and when that gateway was seen last: one that was killed must not count on.
type differing struct{ gateway, part string }

type times struct {
	n    int
	seen time.Time
}

// newDrift returns nil if the database is a SQLite file, which serves one gateway only.
func newDrift(h *Desk) *drift {
	if h.store.file != "" {
		return nil
	}
	return &drift{basis: h.basis, config: h.config, parts: h.parts, identity: h.common.identity, neighbours: h.store.neighbours, live: h.live, id: uuid.NewString()}
}

// differ returns the gateways that have differed for long enough to be reported.
func (d *drift) differ() []GatewayDiffers {
	if d == nil || d.told.Load() == nil {
		return nil
	}
	return *d.told.Load()
}

// quiet returns the gateways that are gone.
func (d *drift) quiet() []GatewayGone {
	if d == nil || d.gone.Load() == nil {
		return nil
	}
	return *d.gone.Load()
}

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
	var others []neighbours.Gateway
	if err == nil {
		others, err = d.neighbours.Meet(bounded, d.id, string(document))
	}
	if err != nil {
		if !d.failing && ctx.Err() == nil {
			d.log.Warn("gateways cannot tell each other how they are set up", zap.Error(err))
		}
		d.failing = true
		if d.now().Sub(d.met) > neighbours.GatewayLife { // they may agree now, or be gone
			d.differing = nil
			d.told.Store(nil)
			d.gone.Store(nil)
		}
		return
	}
	d.failing, d.met = false, d.now()
	gone := d.missing(own, others)
	d.gone.Store(&gone)
	told := d.compare(own, slices.DeleteFunc(others, func(g neighbours.Gateway) bool { return g.Quiet > neighbours.GatewayLife }))
	d.told.Store(&told)
}

// missing are the gateways that are gone, but for those in whose place another one has started.
func (d *drift) missing(own setup, others []neighbours.Gateway) (gone []GatewayGone) {
	there := map[[2]string]bool{{own.Host, own.Listen}: true}
	for _, isQuiet := range []bool{false, true} {
		for _, other := range others {
			var of setup
			if json.Unmarshal([]byte(other.Document), &of) != nil || (other.Quiet >= quietTold) != isQuiet {
				continue
			}
			if at := [2]string{of.Host, of.Listen}; !there[at] {
				there[at] = true
				if isQuiet {
					gone = append(gone, GatewayGone{of.Host, of.Listen, d.now().Add(-other.Quiet)})
				}
			}
		}
	}
	return gone
}

// compare counts how often the others have differed, and returns those that are to be reported.
func (d *drift) compare(own setup, others []neighbours.Gateway) (told []GatewayDiffers) {
	before := d.differing
	d.differing = map[differing]times{}
	for _, other := range others {
		var theirs setup
		if json.Unmarshal([]byte(other.Document), &theirs) != nil {
			continue // of a version that says it otherwise
		}
		found := GatewayDiffers{Host: theirs.Host, Listen: theirs.Listen}
		for _, part := range driftParts {
			here, known := own.Parts[part]
			there, said := theirs.Parts[part]
			if !known || !said || here == there {
				continue
			}
			of := differing{other.ID, part}
			count := before[of]
			if count.n == 0 || other.Seen.After(count.seen) {
				count = times{count.n + 1, other.Seen}
			}
			d.differing[of] = count
			switch {
			case count.n < driftTold:
			case toldOf[part]:
				found.Parts = append(found.Parts, PartDiffers{part, there, here})
			default:
				found.Parts = append(found.Parts, PartDiffers{Part: part})
			}
		}
		if len(found.Parts) > 0 {
			told = append(told, found)
		}
	}
	return told
}

// upgrading tells whether nothing but the version differs.
func (g GatewayDiffers) upgrading() bool { return len(g.Parts) == 1 && g.Parts[0].Part == partVersion }

// judgeDrift reports both in /readyz. The gateway stays ready, since nobody knows which of them is
// right. A difference in version alone does not make it degraded: whoever upgrades one gateway
// after the other waits for each to be ok.
func (h *Desk) judgeDrift(now *Health) {
	for _, one := range h.drift.quiet() {
		now.Gone = append(now.Gone, one)
		now.LookAt = append(now.LookAt, fmt.Sprintf("the gateway %s of %s has told nothing since %s, and was not stopped: it was killed, hangs, or does not reach the database",
			one.Listen, one.Host, one.Heard.UTC().Format(time.RFC3339)))
	}
	now.Differ = h.drift.differ()
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
