package desk

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"time"

	"go.uber.org/zap"

	"frontdesk/auth"
	"frontdesk/backend/sqlrecord"
	"frontdesk/cmd/frontdesk/desk/neighbours"
	"frontdesk/config"
	"frontdesk/gateway"
	"frontdesk/gateway/webhook"
	"frontdesk/gateway/webhook/jobstore"
)

// How many callback jobs and calls run at once, and after how long another process takes over
// the jobs and calls of a process that crashed.
const (
	callbackWorkers = 4
	callbackCalls   = 16
	WorkLease       = 30 * time.Second
	CallLease       = 60 * time.Second
)

// ownStore is what the gateway keeps in its own database, and the results of callbacks.
type ownStore struct {
	file       string // the SQLite file; "" for PostgreSQL
	jobs       *jobstore.Store
	neighbours *neighbours.Tables
	results    webhook.Results
}

// openOwnStore makes the tables in the gateway's own database.
func openOwnStore(ctx context.Context, b *basis, own *OwnDatabase) (s *ownStore, err error) {
	s = &ownStore{file: own.file}
	if err := lockFile(b, own.file); err != nil {
		return nil, err
	}
	if s.jobs, err = jobstore.Open(ctx, sqlrecord.Jobs(own.Db)); err != nil {
		return nil, err
	}
	if s.neighbours, err = neighbours.Open(ctx, sqlrecord.Jobs(own.Db)); err != nil {
		return nil, err
	}
	s.results, err = openResults(own.file, s.jobs)
	return s, err
}

// newCallbacks returns what the gateway needs to accept callbacks; startCallbacks adds the
// orchestrator that carries them out.
func newCallbacks(h *Desk, accounts auth.Accounts) *gateway.Callbacks {
	c := h.config
	return &gateway.Callbacks{
		Links:    webhook.NewLinks(h.store.jobs, h.now, h.log),
		Results:  h.store.results,
		Timeout:  c.Backend.Timeout,
		Rules:    webhook.Rules{AllowHosts: c.Webhooks.AllowHosts, Ports: c.Webhooks.Ports},
		Long:     longRunning(c.Callbacks),
		FindUser: accounts.FindUser,
	}
}

// lockFile keeps other gateways from serving from a SQLite file ("" is none). A gateway takes over
// all jobs in the file, and orders only the writers of its own process.
func lockFile(b *basis, file string) error {
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
	b.onClose(unlock)
	return nil
}

// lockOf names the file that a gateway locks while it serves from a SQLite file.
func lockOf(file string) string { return realFile(file) + "-serve" }

// realFile resolves the links that may lead to a file.
func realFile(file string) string {
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real
	}
	return file
}

// openResults opens the store of results: a folder beside the SQLite file, which is locked, or the
// PostgreSQL database of the jobs.
func openResults(file string, jobs *jobstore.Store) (webhook.Results, error) {
	if file == "" {
		return jobs.NewResults()
	}
	return webhook.OpenFiles(ResultsFolder(file))
}

// ResultsFolder names the folder of the results of callbacks whose jobs are in a SQLite file.
func ResultsFolder(file string) string { return realFile(file) + "-callbacks" }

// longRunning returns a predicate of the operations that are to answer by callback.
func longRunning(rules []config.Rule) func(gateway.Grant) bool {
	return func(g gateway.Grant) bool {
		return slices.ContainsFunc(rules, func(r config.Rule) bool { return r.Matches(g.Method, g.Path) })
	}
}

// startCallbacks starts the orchestrator, which does the gateway's kinds of work.
func startCallbacks(h *Desk, callbacks *gateway.Callbacks, dial dial) (*webhook.Orchestrator, error) {
	c, store := h.config.Webhooks, h.store
	roots, err := webhook.Roots(c.CAFile)
	if err != nil {
		return nil, fmt.Errorf("webhooks.ca_file: %w", err)
	}
	if store.file != "" {
		// No other gateway serves from the file (lockFile), so the process that had a job is gone.
		if err := store.jobs.Release(context.Background()); isFull(err) {
			h.log.Warn("callbacks: unfinished jobs cannot be released, and are begun again only when their leases end", zap.Error(err))
		} else if err != nil {
			return nil, err
		}
	}
	callbacks.Orchestrator = webhook.Start(webhook.Config{
		Store: store.jobs, Results: store.results, Runners: h.Gateway.Runners(), Ready: h.Gateway.Ready,
		Caller:  webhook.NewCaller(webhook.CallerConfig{Rules: callbacks.Rules, Roots: roots, Dial: dial}),
		Secrets: func(key string) []string { return h.live.Load().secrets[key] },
		Space:   h.bounds.ResultSpace, Left: h.looks.resultsLeft(),
		Model: h.system.model.Steps(), Workers: callbackWorkers, Calls: callbackCalls, WorkLease: WorkLease, CallLease: CallLease,
		Schedule: webhook.NewSchedule(rand.Float64), Clock: h.now, Random: crand.Reader, Log: h.log, Tracer: h.tracing.spans(),
		Observe: calledBack(h.metrics.Registry),
	})
	h.onClose(callbacks.Orchestrator.Close)
	return callbacks.Orchestrator, nil
}
