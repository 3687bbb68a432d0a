package desk

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.uber.org/zap"

	"frontdesk/config"
)

// Serve answers requests until ctx ends, and then lets those under way finish.
func (h *Desk) Serve(ctx context.Context, ready func(baseURL string)) error {
	database, err := DatabaseOf(h.config)
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	var serving sync.WaitGroup
	defer serving.Wait()
	alive, stopSigns := context.WithCancel(context.Background())
	defer stopSigns()
	serving.Go(func() { h.watchEnded(alive) })
	serving.Go(func() { failed <- h.server.Serve(h.listener) })
	if h.Ops != nil {
		serving.Go(func() { failed <- h.Ops.serve() })
	}
	if h.commands != nil {
		serving.Go(func() {
			if err := h.commands.serve(); err != nil { // clients are still served
				h.log.Warn("frontdesk sessions cannot ask this gateway any more", zap.Error(err))
			}
		})
	}
	serving.Go(func() { h.supervisor.keepAlive(alive) })
	serving.Go(func() { h.watchDisks(alive) })
	serving.Go(func() { h.drift.watch(alive) })
	serving.Go(func() { h.watchKeyUse(alive) })
	h.past.begin()
	serving.Go(func() { h.past.watch(alive) })
	serving.Go(func() { h.past.gather(alive) })
	serving.Go(func() { h.watchQueues(alive) })
	serving.Go(func() { h.giveBack(alive) })
	serving.Go(func() { every(alive, time.After, time.Hour, newExpiryWatch(h.keys, time.Now, h.log).look) })
	h.tell(h.supervisor.ready(h.status()))
	h.log.Info("serving", zap.String("base_url", h.config.Server.BaseURL()), zap.String("config", h.policy().Hash), zap.Stringer("database", database),
		zap.String("version", Version()), zap.String("sockets_of_systemd", h.supervisor.handedOver()))
	ready(h.config.Server.BaseURL())
	select {
	case err = <-failed:
	case <-ctx.Done():
		h.drain()
	}
	return errors.Join(err, h.shutdown())
}

// drain has load balancers send requests elsewhere before the listener closes: /readyz says so at
// once, and requests are accepted for server.drain_delay, in which load balancers ask it.
func (h *Desk) drain() {
	h.draining.Store(true)
	h.tell(h.supervisor.stopping("draining"))
	delay := h.config.Server.DrainDelay
	h.log.Info("draining", zap.Duration("drain_delay", delay), zap.Duration("shutdown_timeout", h.config.Server.ShutdownTimeout))
	if delay > 0 {
		<-h.after(delay)
	}
}

// shutdown lets requests and callback jobs under way finish. The operators' listener closes last,
// so that they can watch.
func (h *Desk) shutdown() error {
	h.draining.Store(true)
	timeout := h.config.Server.ShutdownTimeout
	stop, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	jobs := make(chan error, 1)
	go func() { jobs <- h.callbacks.Shutdown(stop) }()
	err := h.server.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("requests under way were broken off: they did not end within server.shutdown_timeout (%s)", timeout)
	}
	h.letJobsEnd(jobs)
	h.Ops.stop(stop)
	h.commands.stop(stop)
	return err
}

// letJobsEnd waits for the jobs under way. Jobs that do not end in time are no failure: the next
// process does them again.
func (h *Desk) letJobsEnd(jobs <-chan error) {
	var err error
	select {
	case err = <-jobs:
	default:
		h.log.Info("callbacks: waiting for jobs under way to end", zap.Duration("shutdown_timeout", h.config.Server.ShutdownTimeout))
		err = <-jobs
	}
	if err != nil {
		h.log.Warn("callbacks: jobs under way were cut off: they did not end within server.shutdown_timeout", zap.Error(err))
	}
}

// keys are the api_keys that are configured now.
func (h *Desk) keys() []config.Key { return h.live.Current().config.APIKeys }

// tell logs that systemd could not be told something, which is no reason to stop.
func (h *Desk) tell(err error) {
	if err != nil {
		h.log.Warn("systemd could not be notified", zap.Error(err))
	}
}
