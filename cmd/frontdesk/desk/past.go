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

	"frontdesk/cmd/frontdesk/history"
)

// PastSavedEvery is how often the history is written to its file: what a kill loses at most.
const PastSavedEvery = 5 * time.Minute

// past keeps the history of the gateway.
type past struct {
	*history.History
	of     *Desk
	others *gathering
	file   string       // "" where it ends with the process
	saved  time.Time    // or tried to be
	kept   atomic.Int64 // when it was saved last, in Unix seconds
	turned time.Time    // when an hour of the slowest calls began
	seen   pastSeen
}

// pastSeen is what marks are made of, as it was last seen.
type pastSeen struct {
	circuits map[string]string
	ended    []string
}

// openHistory reads what an earlier process left. A history that cannot be read is told, and
// a new one begins: nothing is served by it. A file that is something else is left as it is, and
// the history then ends with the process.
func openHistory(b *basis, database string) *past {
	p := &past{History: history.New(time.Now), file: historyFile(database)}
	if p.file == "" {
		return p
	}
	err := p.Load(p.file)
	if errors.Is(err, history.ErrYetToCome) {
		b.log.Warn("the history goes on without the figures of a time that is yet to come", zap.Error(err))
		return p
	}
	if err == nil {
		return p
	}
	p.History = history.New(time.Now)
	if errors.Is(err, history.ErrForeign) {
		b.log.Warn("the history is not kept over a restart", zap.Error(err))
		p.file = ""
		return p
	}
	b.log.Warn("the history begins anew", zap.Error(err))
	return p
}

// stateFolder is the variable in which systemd names the folder of StateDirectory.
const stateFolder = "STATE_DIRECTORY"

// historyFile is beside the gateway's own database, else in the folder that systemd gives; "" for
// none.
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

// begin marks the start, and saves that: who is killed has no time for it.
func (p *past) begin() {
	p.Mark(markStart, "frontdesk "+Version()+" started")
	p.save()
}

// watch samples and marks until ctx ends, and saves the history now and then, and at the end.
func (p *past) watch(ctx context.Context) {
	p.turned, p.seen = time.Now(), p.look()
	every(ctx, time.After, history.Every, func() {
		p.Sample(p.levels(ctx))
		p.compare(p.look())
		if time.Since(p.turned) >= time.Hour {
			p.turned = time.Now()
			p.of.metrics.turnSlowest()
		}
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

// startsTold is how long it is told that the gateway was started without having been stopped.
const startsTold = time.Hour

// judgeStarts tells that the gateway was killed, or has crashed.
func (h *Desk) judgeStarts(now *Health) {
	last, n, at := markStop, 0, time.Time{}
	for _, m := range h.past.Marks(time.Time{}) {
		if m.Kind == markStart && last == markStart && h.now().Sub(m.At) < startsTold {
			n, at = n+1, m.At
		}
		if m.Kind == markStart || m.Kind == markStop {
			last = m.Kind
		}
	}
	if n > 0 {
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

func (p *past) levels(ctx context.Context) (now history.Levels) {
	load := p.of.load()
	now[history.Connections], now[history.Running] = level(load.Connections), level(load.Running)
	now[history.Waiting], now[history.Pool] = level(load.Waiting+load.Passwords), level(load.PoolInUse)
	if pending, err := p.of.pending.now(ctx); err == nil {
		now[history.Due], now[history.Failing] = level(jobsOf(pending.Due)), level(jobsOf(pending.Failing))
	}
	return now
}

func level(n int) uint32 { return uint32(max(n, 0)) } // #nosec G115 -- counts of what a process has

func (p *past) look() pastSeen {
	seen := pastSeen{circuits: map[string]string{}}
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

// compare marks what changed since the last look.
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
}
