package desk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"
	"go.uber.org/zap"

	"frontdesk/backend"
	"frontdesk/backend/sqlrecord"
)

// The status that /readyz answers. Unavailable and draining come with 503. Degraded comes with 200:
// other gateways have the same problem, or it can wait.
const (
	HealthOK          = "ok"
	HealthDegraded    = "degraded"    // the gateway serves, but somebody should look
	healthUnavailable = "unavailable" // the administration, or the store of sessions, does not answer
	HealthDraining    = "draining"    // the gateway is to stop
)

// sessionsReadOnly is what /readyz says of a store of sessions that answers and takes no writes.
// It makes no gateway unavailable: all of them share the store, and open sessions go on.
const sessionsReadOnly = "read-only"

// Health is the answer of /readyz.
type Health struct {
	Status      string             `json:"status"`
	Version     string             `json:"version"`
	Since       *time.Time         `json:"since,omitempty"`   // the first request to /readyz that found it not ok
	Reasons     []string           `json:"reasons,omitempty"` // why the status is not ok
	LookAt      []string           `json:"look_at,omitempty"` // what somebody should look at, whatever the status
	Backend     string             `json:"backend"`
	Circuit     string             `json:"circuit"`            // the worst state of any circuit
	Circuits    map[string]string  `json:"circuits,omitempty"` // circuits that are not closed, by names such as "writes of order"
	Jobs        string             `json:"jobs"`
	Sessions    string             `json:"sessions"` // the state of their store
	Disks       []Disk             `json:"disks"`
	Config      ConfigHealth       `json:"config"`
	Certificate *CertificateHealth `json:"certificate,omitempty"` // only with TLS
	Differ      []GatewayDiffers   `json:"gateways_that_differ,omitempty"`
	Gone        []GatewayGone      `json:"gateways_gone,omitempty"`
}

// ConfigHealth describes the configuration in force.
type ConfigHealth struct {
	Hash         string     `json:"hash"`
	Loaded       time.Time  `json:"loaded"`
	LastReload   *time.Time `json:"last_reload,omitempty"`
	Error        string     `json:"error,omitempty"`       // why the last reload kept the one before
	HangsSince   *time.Time `json:"hangs_since,omitempty"` // since when a read of the files has not returned
	NeedsRestart []string   `json:"needs_restart,omitempty"`
	RestartError string     `json:"restart_error,omitempty"` // why a start would fail
}

// healthTimeout is how long the parts may take to answer; all are asked at once. Load balancers do
// not wait for long.
const healthTimeout = 2 * time.Second

// answers are what the parts report about themselves.
type answers struct {
	jobs, backend error
	sessions      string       // the state of the store of sessions
	why           error        // the cause of that state
	crowded       *StatusSpace // the space of results, if most of it is taken
	pending       pending      // empty if callbacks cannot be counted; jobs has the error then
	disks         []Disk
}

func (h *Desk) ask(ctx context.Context) (a answers) {
	ctx, cancel := context.WithTimeout(ctx, healthTimeout)
	defer cancel()
	var polls sync.WaitGroup
	polls.Go(func() { a.jobs = h.store.jobs.Ready(ctx) })
	polls.Go(func() { a.backend = h.client.Ready(ctx) })
	polls.Go(func() { a.disks = h.looks.disks() })
	polls.Go(func() { a.sessions, a.why = h.sessionsHealth(ctx) })
	polls.Go(func() {
		if room, err := h.room.now(ctx); err == nil && room.Crowded() {
			a.crowded = h.spaceStatus(ctx, room)
		}
	})
	polls.Go(func() {
		if p, err := h.pending.now(ctx); err == nil {
			a.pending = p
		}
	})
	polls.Wait()
	return a
}

// health judges the state of every part.
func (h *Desk) health(ctx context.Context) Health {
	now := Health{Status: HealthOK, Version: Version(), Backend: "ok", Jobs: "ok", Circuit: h.client.State(), Config: h.configHealth()}
	a := h.ask(ctx)
	if moved, ok := errors.AsType[*sqlrecord.MovedError](cmp.Or(a.backend, a.jobs)); ok {
		now.refuses(healthUnavailable, moved.Error())
	}
	now.judgeCircuits(h.client.Circuits())
	h.judgeCallbacks(&now, a)
	h.queues.judge(&now)
	now.judgeDisks(a.disks)
	now.judgeConfig(len(h.keys()))
	h.judgeCertificate(&now)
	h.judgeBackend(&now, a)
	h.judgeSessions(&now, a)
	h.judgeLog(&now)
	h.judgeStore(&now)
	h.judgeEnds(&now)
	h.judgeDrift(&now)
	h.judgeStarts(&now)
	h.judgeBackups(&now)
	if h.draining.Load() {
		now.refuses(HealthDraining, "it is to stop")
	}
	now.Since = h.unwellSince(now.Status)
	return now
}

// unwellSince returns since when the status is not ok; nil if it is ok.
func (h *Desk) unwellSince(status string) *time.Time {
	if status == HealthOK {
		h.unwell.Store(nil)
		return nil
	}
	since := h.now()
	h.unwell.CompareAndSwap(nil, &since)
	return h.unwell.Load()
}

// degraded adds a reason why the status is not ok.
func (now *Health) degraded(format string, args ...any) {
	if now.Status == HealthOK {
		now.Status = HealthDegraded
	}
	now.Reasons = append(now.Reasons, fmt.Sprintf(format, args...))
}

// refuses adds a reason why the gateway is to get no requests.
func (now *Health) refuses(status, reason string) {
	now.degraded("%s", reason)
	now.Status = status
}

func (now *Health) judgeCircuits(all []backend.Circuit) {
	now.Circuits = map[string]string{}
	for _, c := range all {
		if c.State != backend.CircuitClosed {
			now.Circuits[c.String()] = c.State
		}
	}
	if len(now.Circuits) > 0 {
		now.degraded("circuits are open, whose requests are refused: %s", strings.Join(slices.Sorted(maps.Keys(now.Circuits)), ", "))
	}
}

func (h *Desk) judgeCallbacks(now *Health, a answers) {
	if err := a.jobs; err != nil {
		h.log.Warn("callback jobs cannot be read", zap.Error(err))
		now.Jobs = healthUnavailable
		now.degraded("callback jobs cannot be read; the log says why")
	}
	for _, reason := range a.pending.reasons {
		now.degraded("%s", reason)
	}
	now.LookAt = a.pending.lookAt
	if space := a.crowded; space != nil {
		now.degraded("results of callbacks that were not fetched take %s of %s, most of it those of client %s: who has its share is refused further ones with 503",
			readable(space.Used-space.Spent), readable(space.Limit), space.Client)
	}
}

func (now *Health) judgeConfig(keys int) {
	if now.Config.Error != "" {
		now.degraded("the configuration before stays in force: %s", now.Config.Error)
	}
	if since := now.Config.HangsSince; since != nil {
		now.degraded("the files of the configuration have not answered since %s: what is in force stays, and no change of them is taken up", since.UTC().Format(time.RFC3339))
	}
	if keys == 0 {
		now.degraded("no api_key is configured: nobody can log in")
	}
	if n := len(now.Config.NeedsRestart); n > 0 {
		now.degraded("%d change(s) of the configuration need a restart", n)
	}
	if now.Config.RestartError != "" {
		now.degraded("a restart would fail: %s", now.Config.RestartError)
	}
}

func (h *Desk) judgeBackend(now *Health, a answers) {
	if err := a.backend; err != nil {
		h.log.Warn("not ready", zap.Error(err))
		now.Backend = healthUnavailable
		now.refuses(healthUnavailable, "the administration does not answer; the log says why")
	}
	if changing, ok := h.system.driver.(backend.Changing); ok {
		for _, c := range changing.Closed() {
			what := "writing"
			if c.Reads {
				what = "reading and writing"
			}
			now.degraded("%s %s is refused since %s, because the administration has changed: %s", what, c.Resource, c.Since.UTC().Format(time.RFC3339), c.What)
		}
	}
}

func (h *Desk) judgeSessions(now *Health, a answers) {
	switch now.Sessions = a.sessions; now.Sessions {
	case sessionsReadOnly:
		h.log.Warn("sessions cannot be kept", zap.Error(a.why))
		now.degraded("the store of sessions takes no writes, and logins, logouts and requests of api_keys with limits are refused with 503: %s", whyNoWrites(a.why))
	case healthUnavailable:
		h.log.Warn("sessions cannot be looked up", zap.Error(a.why))
		now.refuses(healthUnavailable, "the store of sessions does not answer: every session is refused with 500; the log says why")
	}
}

// sessionsHealth returns the state of the store of sessions, and its cause. A store in this process is
// always ok.
func (h *Desk) sessionsHealth(ctx context.Context) (word string, cause error) {
	if h.common.ready == nil {
		return HealthOK, nil
	}
	switch err := h.common.ready(ctx); {
	case err == nil:
		return HealthOK, nil
	case whyNoWrites(err) != "":
		return sessionsReadOnly, err
	default:
		return healthUnavailable, err
	}
}

func (h *Desk) configHealth() ConfigHealth {
	current, state := h.live.Load(), h.reloads.state()
	now := ConfigHealth{Hash: current.policy.Hash, Loaded: current.since, NeedsRestart: state.needsRestart(), LastReload: moment(state.last), HangsSince: moment(state.hangs(h.now()))}
	if state.fault != nil {
		now.Error = summary(state.fault)
	}
	if state.restart != nil {
		now.RestartError = state.restart.Error()
	}
	return now
}

// summary describes an error in one line; the log has all of it.
func summary(err error) string { return inOneLine(problemsOf(err)) }

func inOneLine(problems []string) string {
	if len(problems) == 1 {
		return problems[0]
	}
	return fmt.Sprintf("%d problems, first: %s", len(problems), problems[0])
}

// status describes in one line what the program does, for systemctl status.
func (h *Desk) status() string {
	current := h.live.Load()
	text := fmt.Sprintf("serving %s/, %d api_key(s), configuration %s", h.config.Server.BaseURL(), len(current.config.APIKeys), current.policy.Hash)
	if err := h.reloads.state().fault; err != nil {
		text += "; its files are not used as they are: " + summary(err)
	}
	return text
}

// probes answer load balancers and supervisors.
type probes struct {
	names  []string // the listener's own
	health func(context.Context) Health
}

// healthz answers that the program runs.
func (probes) healthz(c *fiber.Ctx) error { return c.JSON(fiber.Map{"status": HealthOK}) }

// readyz reports whether the program is to get requests, and if not, why. A request whose host is none of
// the listener's own names gets the status alone: some load balancers send the name of their group.
func (a probes) readyz(c *fiber.Ctx) error {
	now := a.health(c.UserContext())
	if now.Status == healthUnavailable || now.Status == HealthDraining {
		c.Status(fiber.StatusServiceUnavailable)
	}
	if !a.isOwn(c) {
		return c.JSON(fiber.Map{"status": now.Status})
	}
	return c.JSON(now)
}
