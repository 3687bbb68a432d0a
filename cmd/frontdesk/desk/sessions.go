package desk

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"frontdesk/auth"
	"frontdesk/auth/redis"
	"frontdesk/config"
)

// common is the state that all gateways of one service share: sessions, wrong passwords, and how
// much each client has used of the limits of its api_key. sessions.store names the place where it is kept.
type common struct {
	sessions *endedSessions
	guesses  auth.GuessCounter
	limits   auth.Limits
	// count tells how many sessions there are; nil where nobody counts them.
	count func() int
	// ready reports whether the store answers and takes writes; nil where it is this process.
	ready func(context.Context) error
	// identity names the store; nil where it is this process.
	identity func(context.Context) (string, error)
	// emptied is when the store was found to have forgotten everything; zero where it was not.
	emptied atomic.Pointer[time.Time]
	// gathering is where gateways tell each other figures; nil where there is one gateway.
	gathering *redis.Gathering
	close     func() error
}

func openCommon(c *config.Config) (*common, error) {
	zone := c.Server.TimeZone.Location
	if c.Sessions.Store == config.MemoryStore {
		sessions := auth.NewMemory(time.Now)
		return &common{
			sessions: newEndedSessions(sessions), guesses: auth.NewMemoryGuessCounter(), limits: auth.NewMemoryLimits(zone),
			count: sessions.Count, close: sessions.Close,
		}, nil
	}
	client, err := redis.Open(redis.Options{URL: string(c.Sessions.Store), CAFile: c.Sessions.CAFile})
	if err != nil {
		return nil, away{fmt.Errorf("sessions.store: %w", err)} // its settings were judged before
	}
	return &common{
		sessions: newEndedSessions(redis.NewSessions(client, time.Now)), guesses: redis.NewGuessCounter(client), limits: redis.NewLimits(client, zone, slotLease(c)),
		ready: client.Ready, identity: client.Identity, gathering: redis.NewGathering(client),
		close: func() error {
			client.Close()
			return nil
		},
	}, nil
}

// StoreEvery is how often a gateway looks whether the store of sessions has forgotten what was in it, and
// emptiedTold how long that is reported.
const (
	StoreEvery  = 15 * time.Second
	emptiedTold = time.Hour
)

// watchStore looks whether the store of sessions is another one, or an empty one, until ctx ends.
func (h *Desk) watchStore(ctx context.Context) {
	if h.common.identity == nil {
		return
	}
	var before string
	every(ctx, h.after, StoreEvery, func() {
		name, err := h.common.identity(ctx)
		if err != nil {
			return // which /readyz says
		}
		if before != "" && name != before {
			now := h.now()
			h.common.emptied.Store(&now)
			h.past.Mark("sessions", "the store of sessions came back empty")
			h.log.Warn("the store of sessions came back empty: everybody has to log in again, and limits count from zero")
		}
		before = name
	})
}

// judgeStore reports in /readyz that it came back empty.
func (h *Desk) judgeStore(now *Health) {
	if at := h.common.emptied.Load(); at != nil && h.now().Sub(*at) < emptiedTold {
		now.LookAt = append(now.LookAt, fmt.Sprintf("the store of sessions came back empty, found at %s: everybody has to log in again, and limits count from zero", at.UTC().Format(time.RFC3339)))
	}
}

// slotLease is how long a gateway that died keeps its slots among the concurrent requests of an
// api_key. It is longer than any request: its body may wait for memory and then arrive slowly, and
// it calls the backend a few times at most.
func slotLease(c *config.Config) time.Duration {
	return max(time.Minute, 2*c.Server.ReadTimeout+4*c.Backend.Timeout)
}

// whyNoWrites returns why a store of sessions that answers takes no writes; "" for any other
// error.
func whyNoWrites(err error) string {
	if refusal, ok := errors.AsType[*redis.WriteRefusal](err); ok {
		return refusal.Why
	}
	return ""
}
