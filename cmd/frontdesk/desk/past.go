package desk

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.uber.org/zap"

	"frontdesk/cmd/frontdesk/history"
)

// PastSavedEvery is how often the history is written to its file: what a kill loses at most.
const PastSavedEvery = 5 * time.Minute

// past keeps the history of the gateway.
type past struct {
	*history.History
	of    *Desk
	file  string // "" where it ends with the process
	saved time.Time
	seen  pastSeen
}

// pastSeen is what marks are made of, as it was last seen.
type pastSeen struct {
	circuits map[string]string
	ended    []string
}

// openHistory reads what an earlier process left. A history that cannot be read is told, and
// a new one begins: nothing is served by it.
func openHistory(b *basis, file string) *history.History {
	h := history.New(time.Now)
	if file == "" {
		return h
	}
	if err := h.Load(file); err != nil {
		b.log.Warn("the history begins anew", zap.Error(err))
		return history.New(time.Now)
	}
	return h
}

// historyFile is beside the gateway's own database; "" where that is no file.
func historyFile(database string) string {
	if database == "" {
		return ""
	}
	return database + "-history"
}

// watch samples and marks until ctx ends, and saves the history now and then, and at the end.
func (p *past) watch(ctx context.Context) {
	p.Mark("start", "frontdesk "+Version()+" started")
	p.saved, p.seen = time.Now(), p.look()
	every(ctx, time.After, history.Every, func() {
		p.Sample(p.levels(ctx))
		p.compare(p.look())
		if time.Since(p.saved) >= PastSavedEvery {
			p.save()
		}
	})
	p.save()
}

func (p *past) save() {
	p.saved = time.Now()
	if p.file == "" {
		return
	}
	if err := p.Save(p.file); err != nil {
		p.of.log.Warn("the history cannot be written", zap.String("file", p.file), zap.Error(err))
	}
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
