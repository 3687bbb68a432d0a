package desk

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"frontdesk/backend"
	"frontdesk/config"
	"frontdesk/gateway/webhook"
)

// StatusReport is all that the status page and /status.json show. It holds names of the
// configuration and numbers; nothing that a client sent, and no secret.
type StatusReport struct {
	Verdict   string          `json:"verdict"` // in a sentence
	Now       time.Time       `json:"now"`
	Started   time.Time       `json:"started"`
	Version   string          `json:"version"`
	Host      string          `json:"host"`   // which of several gateways it is
	Health    Health          `json:"health"` // as /readyz answers it
	Load      StatusLoad      `json:"load"`
	Callbacks StatusCallbacks `json:"callbacks"`
	Keys      StatusKeys      `json:"keys"`
}

// StatusLoad is how busy the parts are.
type StatusLoad struct {
	Running     int  `json:"backend_running"`
	Limit       int  `json:"backend_limit"`
	Waiting     int  `json:"backend_waiting"`
	Clients     int  `json:"backend_clients_waiting"` // clients whose calls wait
	PoolInUse   int  `json:"pool_in_use"`
	PoolLimit   int  `json:"pool_limit"` // 0 where the backend has no pool
	Connections int  `json:"connections"`
	Sessions    *int `json:"sessions"` // nil for Redis, which does not count them
	Passwords   int  `json:"passwords_waiting"`
}

// StatusCallbacks are the callback jobs.
type StatusCallbacks struct {
	States  map[webhook.State]int `json:"states"` // nil where they cannot be counted
	Due     int                   `json:"due"`
	Failing int                   `json:"failing"` // callbacks that have failed and will be tried again
	Space   *StatusSpace          `json:"space"`   // nil where it cannot be counted
}

// StatusSpace is how the space of results is taken, in bytes.
type StatusSpace struct {
	Limit   int64  `json:"limit_bytes"`
	Used    int64  `json:"used_bytes"`
	Spent   int64  `json:"spent_bytes"`   // the part of Used that was fetched, and is freed when room is needed
	Client  string `json:"client"`        // the client with most of the rest; "" if no client has any
	Largest int64  `json:"largest_bytes"` // what that client has
}

// report asks every part.
func (h *Desk) report(ctx context.Context) StatusReport {
	now := time.Now().In(h.config.Server.TimeZone.Location)
	r := StatusReport{
		Now: now, Started: h.metrics.Since, Version: Version(), Host: hostName(), Health: h.health(ctx), Load: h.load(),
		Callbacks: h.callbackStatus(ctx), Keys: keyStatus(h.keys(), now, h.lastUse),
	}
	r.Verdict = r.verdict()
	return r
}

// hostName returns the name of the machine, container or pod; "" if none is known.
func hostName() string {
	name, _ := os.Hostname() // without it the page is the same
	return name
}

func (h *Desk) lastUse(hash config.Digest) time.Time { return h.metrics.LastUse(hash) }

// verdict describes the state in one sentence.
func (r StatusReport) verdict() string {
	switch {
	case r.Health.Status == HealthDraining:
		return "It is about to stop: requests under way are let end."
	case r.Health.Status == healthUnavailable && r.Health.Sessions == healthUnavailable:
		return "Clients are refused: the store of sessions does not answer."
	case r.Health.Status == healthUnavailable:
		return "Clients are refused: the administration does not answer."
	case len(r.Health.Reasons) > 0:
		return "It serves, but look at this: " + strings.Join(slices.Concat(r.Health.Reasons, r.Health.LookAt), "; ") + "."
	case r.Callbacks.States == nil:
		return "It serves, but look at this: callback jobs cannot be counted."
	case len(r.Health.LookAt) > 0:
		return "It works. Look at this: " + strings.Join(r.Health.LookAt, "; ") + "."
	case len(r.Keys.Expiring) > 0:
		first := r.Keys.Expiring[0]
		return fmt.Sprintf("It works. To be done: %d hash(es) of api_keys end within %d days, first %s of %s, %s.", len(r.Keys.Expiring), noticeAhead, first.SHA256, first.Name, ago(r.Now, first.Until))
	case len(r.Keys.Expired) > 0:
		return fmt.Sprintf("All works. %d api_key(s) ended.", len(r.Keys.Expired))
	default:
		return "All works."
	}
}

func (h *Desk) load() StatusLoad {
	calls := h.client.Load()
	l := StatusLoad{Running: calls.Running, Limit: calls.Most, Waiting: calls.Waiting, Clients: calls.Clients, Connections: h.server.Connections()}
	if h.common.count != nil {
		n := h.common.count()
		l.Sessions = &n
	}
	l.Passwords = h.logins.queue.Waiting()
	if p, ok := h.system.driver.(backend.Pooler); ok {
		pool := p.Pool()
		l.PoolInUse, l.PoolLimit = pool.InUse, pool.Most
	}
	return l
}

func (h *Desk) callbackStatus(ctx context.Context) StatusCallbacks {
	var s StatusCallbacks
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	if states, err := h.counts.now(ctx); err == nil {
		s.States = maps.Clone(states)
	}
	if p, err := h.pending.now(ctx); err == nil {
		s.Due, s.Failing = jobsOf(p.Due), jobsOf(p.Failing)
	}
	if room, err := h.room.now(ctx); err == nil {
		s.Space = h.spaceStatus(ctx, room)
	}
	return s
}

func (h *Desk) spaceStatus(ctx context.Context, r webhook.Room) *StatusSpace {
	s := &StatusSpace{Limit: r.Space, Used: r.Firm() + r.Bytes(webhook.Spent), Spent: r.Bytes(webhook.Spent)}
	most, id := r.Largest()
	if j, err := h.store.jobs.Get(ctx, id); most > 0 && err == nil {
		s.Client, s.Largest = j.Owner.User.Client.Name, most
	}
	return s
}
