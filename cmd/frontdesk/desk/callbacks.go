package desk

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"go.uber.org/zap"

	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk/ledger"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// How much is done at once for callbacks, and how long a crash delays it where
// several processes may share the jobs.
const (
	callbackWorkers = 4
	callbackCalls   = 16
	WorkLease       = 30 * time.Second
	CallLease       = 60 * time.Second
)

// openCallbacks opens what callbacks need; startCallbacks puts it to work.
func (h *Desk) openCallbacks() (*gateway.Callbacks, error) {
	c := h.config.Webhooks
	if err := h.lockFile(); err != nil {
		return nil, err
	}
	jobs, err := jobstore.Open(context.Background(), sqlrecord.Jobs(h.system.Own.Db))
	if err != nil {
		return nil, err
	}
	h.jobs = jobs
	if h.ledger, err = ledger.Open(context.Background(), sqlrecord.Jobs(h.system.Own.Db)); err != nil {
		return nil, err
	}
	if h.results, err = h.openResults(c); err != nil {
		return nil, err
	}
	h.counts = newCached(jobs.States, h.now)
	h.pending = newCached(h.countPending, h.now)
	return &gateway.Callbacks{
		Links:   webhook.NewLinks(jobs, h.now, h.log),
		Results: h.results,
		Timeout: h.config.Backend.Timeout,
		Rules:   webhook.Rules{AllowHosts: c.AllowHosts, Ports: c.Ports},
		Long:    longRunning(h.config.Callbacks),
	}, nil
}

// lockFile keeps other gateways from a SQLite file: jobs are taken up as nobody else's,
// and turns of writers are taken within the process.
func (h *Desk) lockFile() error {
	file := h.system.Own.file
	if file == "" {
		return nil
	}
	unlock, err := webhook.LockFile(lockOf(file))
	if errors.Is(err, webhook.ErrLocked) {
		return fmt.Errorf("%s is served by another frontdesk: a SQLite file has one, and several share a PostgreSQL database", file)
	}
	if err != nil {
		return err
	}
	h.onClose(unlock)
	return nil
}

// lockOf is the file that a gateway locks while it serves from a SQLite file.
func lockOf(file string) string { return file + "-serve" }

// openResults opens where results are kept: in the folder that is configured, or
// beside the jobs.
func (h *Desk) openResults(c config.Webhooks) (webhook.Results, error) {
	folder := resultsFolder(c, h.system.Own.file)
	if folder == "" {
		return h.jobs.NewResults()
	}
	files, err := webhook.OpenFiles(folder)
	if errors.Is(err, webhook.ErrLocked) {
		return nil, fmt.Errorf("the folder of results %s is in use by another frontdesk: give each a webhooks.folder of its own", folder)
	}
	if err != nil {
		return nil, fmt.Errorf("webhooks.folder: %w", err)
	}
	h.resultsFolder = folder
	h.onClose(files.Close)
	return files, nil
}

// resultsFolder is where results are, which by default is beside the file that the jobs are
// in; "" where that is a database.
func resultsFolder(c config.Webhooks, file string) string {
	if c.Folder == "" && file != "" {
		return file + "-callbacks"
	}
	return c.Folder
}

// longRunning tells which operations are to answer by callback.
func longRunning(rules []config.Rule) func(gateway.Grant) bool {
	return func(g gateway.Grant) bool {
		return slices.ContainsFunc(rules, func(r config.Rule) bool { return r.Matches(g.Method, g.Path) })
	}
}

// startCallbacks starts the orchestrator, which does the gateway's kinds of work.
func (h *Desk) startCallbacks(callbacks *gateway.Callbacks) error {
	roots, err := webhook.Roots(h.config.Webhooks.CAFile)
	if err != nil {
		return fmt.Errorf("webhooks.ca_file: %w", err)
	}
	if h.system.Own.file != "" {
		// Nobody else serves from the file (lockFile), so whoever had a job is gone.
		if err := h.jobs.Release(context.Background()); isFull(err) {
			h.log.Warn("callbacks: jobs under way are not begun again before their leases have run out", zap.Error(err))
		} else if err != nil {
			return err
		}
	}
	callbacks.Orchestrator = webhook.Start(webhook.Config{
		Store: h.jobs, Results: h.results, Runners: h.Gateway.Runners(),
		Caller:  webhook.NewCaller(webhook.CallerConfig{Rules: callbacks.Rules, Roots: roots}),
		Secrets: func(key string) []string { return h.live.Current().secrets[key] },
		Space:   int64(h.config.Webhooks.Space), Left: h.resultsLeft(),
		Model: h.system.model.Steps(), Workers: callbackWorkers, Calls: callbackCalls, WorkLease: WorkLease, CallLease: CallLease,
		Schedule: webhook.NewSchedule(rand.Float64), Clock: h.now, Random: crand.Reader, Log: h.log, Tracer: h.tracing.spans(),
		Observe: h.metrics.calledBack(),
	})
	h.onClose(callbacks.Orchestrator.Close)
	h.callbacks = callbacks.Orchestrator
	h.room = newCached(h.callbacks.Room, h.now)
	return nil
}
