package desk

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/instrument"
)

// How often the figures are sampled, and how often they are saved: a kill loses what is not saved.
const (
	lookEvery      = 5 * time.Second
	PastSavedEvery = time.Minute
)

// past keeps the history of the gateway.
type past struct {
	*instrument.Instrument
	of     *Desk
	others *gathering
	file   string       // "" if the history ends with the process
	saved  time.Time    // the last attempt to save
	kept   atomic.Int64 // the last successful one, in Unix seconds
	seen   pastSeen
}

// pastSeen is the state whose changes become marks.
type pastSeen struct {
	circuits map[string]string
	ended    []string
	keys     *snapshot // the api_keys in it have series
}

// openHistory reads what an earlier process left. If that cannot be read, this is logged and a new
// history begins, since nothing is served from it. A file that is something else is left as it is, and
// the history is not saved.
func openHistory(b *basis, database string) *past {
	p := &past{Instrument: b.metrics, file: historyFile(database)}
	if p.file == "" {
		return p
	}
	switch err := p.Load(p.file); {
	case err == nil:
	case errors.Is(err, instrument.ErrYetToCome):
		b.log.Warn("the history goes on without the figures of a time that is yet to come", zap.Error(err))
	case errors.Is(err, instrument.ErrForeign):
		b.log.Warn("the history is not kept over a restart", zap.Error(err))
		p.file = ""
	default:
		b.log.Warn("the history begins anew", zap.Error(err))
	}
	return p
}

// stateFolder is the variable in which systemd names the folder of StateDirectory.
const stateFolder = "STATE_DIRECTORY"

// historyFile names the file of the history: beside the gateway's own database, else in the folder that
// systemd gives; "" for none.
func historyFile(database string) string {
	switch folder, _, _ := strings.Cut(os.Getenv(stateFolder), ":"); {
	case database != "":
		return database + "-history"
	case folder != "":
		return filepath.Join(folder, "history")
	default:
		return ""
	}
}

// begin marks the start, and saves at once: a process that is killed cannot save.
func (p *past) begin() {
	p.Mark(markStart, "frontdesk "+Version()+" started")
	p.save()
}

// watch samples the figures until ctx ends. It saves the history every PastSavedEvery, and at the end.
func (p *past) watch(ctx context.Context) {
	p.seen = p.look()
	p.seen.keys = nil // so that compare sets up the series of the keys
	p.compare(p.look())
	every(ctx, time.After, lookEvery, func() {
		p.Take(p.levels(ctx))
		p.compare(p.look())
		if time.Since(p.saved) >= PastSavedEvery {
			p.save()
		}
	})
	p.Mark(markStop, "frontdesk "+Version()+" stopped")
	p.save()
}

// The marks of a process that begins, and that was stopped.
const (
	markStart = "start"
	markStop  = "stop"
)

// startsReported is how long a start that no stop came before is reported.
const startsReported = time.Hour

// kills counts the starts since a moment that no stop came before, and returns when the last one was.
func (p *past) kills(since time.Time) (n int, at time.Time) {
	last := markStop
	for _, m := range p.Marks(time.Time{}) {
		if m.Kind == markStart && last == markStart && m.At.After(since) {
			n, at = n+1, m.At
		}
		if m.Kind == markStart || m.Kind == markStop {
			last = m.Kind
		}
	}
	return n, at
}

// judgeStarts reports that the gateway was killed, or has crashed.
func (h *Desk) judgeStarts(now *Health) {
	if n, at := h.past.kills(h.now().Add(-startsReported)); n > 0 {
		now.LookAt = append(now.LookAt, fmt.Sprintf("%d time(s) in the last hour this gateway ended without being stopped: it was killed, or crashed; it was started again, the last time at %s", n, at.UTC().Format(time.RFC3339)))
	}
}

func (p *past) save() {
	p.saved = time.Now()
	if p.file == "" {
		return
	}
	if err := p.Save(p.file); err != nil {
		p.of.log.Warn("the history cannot be written", zap.String("file", p.file), zap.Error(err))
		return
	}
	p.kept.Store(time.Now().Unix())
}

func (p *past) levels(ctx context.Context) (now instrument.Levels) {
	load := p.of.load()
	level := func(n int) uint32 { return uint32(max(n, 0)) } // #nosec G115 -- counts of what a process has
	now[instrument.Connections], now[instrument.Running] = level(load.Connections), level(load.Running)
	now[instrument.Waiting], now[instrument.Pool] = level(load.Waiting+load.Passwords), level(load.PoolInUse)
	if pending, err := p.of.pending.now(ctx); err == nil {
		now[instrument.Due], now[instrument.Failing] = level(jobsOf(pending.Due)), level(jobsOf(pending.Failing))
	}
	return now
}

func (p *past) look() pastSeen {
	seen := pastSeen{circuits: map[string]string{}, keys: p.of.live.Load()}
	var now Health
	now.judgeCircuits(p.of.client.Circuits())
	maps.Copy(seen.circuits, now.Circuits)
	for _, k := range p.of.keys() {
		if HasEnded(k, time.Now()) {
			seen.ended = append(seen.ended, k.Name)
		}
	}
	return seen
}

// compare marks what changed since the last sample, and ends the series of api_keys that are gone.
func (p *past) compare(now pastSeen) {
	was := p.seen
	p.seen = now
	for calls, state := range now.circuits {
		if was.circuits[calls] == "" {
			p.Mark("circuit", fmt.Sprintf("circuit %s: %s", state, calls))
		}
	}
	for calls := range was.circuits {
		if now.circuits[calls] == "" {
			p.Mark("circuit", "circuit closed: "+calls)
		}
	}
	for _, name := range now.ended {
		if !slices.Contains(was.ended, name) {
			p.Mark("key", "api_key ended: "+name)
		}
	}
	if now.keys != was.keys {
		configured := map[[32]byte]instrument.KeyHash{}
		for _, k := range p.of.keys() {
			for _, hash := range k.Hashes {
				configured[hash.Hash] = instrument.KeyHash{Key: k.Name, SHA256: hash.Hash.Short()}
			}
		}
		p.KeepKeys(configured)
	}
}
